import * as Comlink from 'comlink';
import type { Contender } from './contender.ts';

/** A contender that runs in its own worker. */
export function overComlink(worker: Worker): Contender {
  const remote = Comlink.wrap<Contender>(worker);
  return {
    open: (name) => remote.open(name),
    close: async () => {
      await remote.close();
      worker.terminate();
    },
    insertMany: (docs) => remote.insertMany(docs),
    insert: (doc) => remote.insert(doc),
    get: (id) => remote.get(id),
    byCity: (city, limit) => remote.byCity(city, limit),
    page: (cursor, limit) => remote.page(cursor, limit),
    ids: (limit) => remote.ids(limit),
    incrementAge: (id) => remote.incrementAge(id),
    updateMany: (ids, age) => remote.updateMany(ids, age),
    transfer: (from, to, amount) => remote.transfer(from, to, amount),
    watch: (city, limit, onChange) => remote.watch(city, limit, Comlink.proxy(onChange)),
  };
}
