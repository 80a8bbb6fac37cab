/** The calls of the page, on one open database. */
import type { HostApi } from '../src/host/api.ts';
import { DatabaseHost } from './database-host.ts';
import { readLogFile, verify } from './host-calls.ts';
import type { DatabaseStorage } from './opening/find-store.ts';
import { AbortableCalls } from './queries/abortable-calls.ts';
import { answerQuery } from './sync/route-query.ts';

/** A null prototype: what the page can name is what is written here. */
export function createHost(storage: DatabaseStorage): HostApi<MessagePort> {
  const host = new DatabaseHost(storage);
  const calls = new AbortableCalls();
  const api: HostApi<MessagePort> = {
    open: (...call) => host.open(...call),
    query: (call) =>
      host.answer(({ runner, database }) =>
        calls.run(call.number, (abortable) => answerQuery(database.sync, runner, call, abortable)),
      ),
    abort: (call) => host.answer(() => Promise.resolve(calls.abort(call))),
    http: (call) => host.answerHttp(call),
    logFile: (id, version) => host.answer(({ database }) => readLogFile(database, id, version)),
    verify: () => host.answer(verify),
    acknowledgeLoss: () => host.answer(({ database }) => database.stored.acknowledgeLoss()),
    sync: (call) => host.answer(({ database }) => database.sync.start(call)),
    submit: (call) =>
      host.answer(({ database }) =>
        calls.run(call.number, (abortable) => database.sync.submit(call, abortable)),
      ),
    syncWait: (call) => host.answer(({ database }) => database.sync.wait(call)),
    writes: (states) => host.answer(({ database }) => database.sync.writes(states)),
    verdict: (id) => host.answer(({ database }) => database.sync.verdict(id)),
    resolveWrite: (id, choice) =>
      host.answer(({ database }) => database.sync.resolveWrite(id, choice)),
    stopSync: () =>
      host.answer(async ({ database }) => {
        await database.sync.stop();
        database.liveRouter.onContact();
      }),
    putFile: (file) => host.answer(({ database }) => database.sync.files.put(file as Blob)),
    getFile: (call) =>
      host.answer(({ database: { sync } }) =>
        calls.runUntil(call.number, (signal) => sync.files.get(call, signal)),
      ),
    fetchFile: (call) =>
      host.answer(({ database: { sync } }) =>
        calls.runUntil(call.number, (signal) => sync.files.fetch(call, signal)),
      ),
    sendFile: (call) => host.answer(({ database }) => database.sync.files.send(call)),
    removeFile: (file) => host.answer(({ database }) => database.sync.files.remove(file)),
    files: () => host.answer(({ database }) => database.sync.files.list()),
    unsent: () => host.unsent(),
    lock: () => host.lock(),
    unlock: (call) => host.unlock(call),
    close: () => host.close(),
    destroy: () => host.destroy(),
    forget: (name) => host.forget(name),
    salvage: (from, into) => host.salvage(from, into),
  };
  return Object.freeze(Object.assign(Object.create(null) as object, api));
}
