/** The calls that a page can make on its one open database. */
import type { HostApi, Reply } from '../src/host/api.ts';
import { DatabaseHost } from './database-host.ts';
import { readLogFile, verify } from './host-calls.ts';
import type { DatabaseStorage } from './opening/find-store.ts';
import { AbortableCalls } from './queries/abortable-calls.ts';
import { answerQuery } from './sync/route-query.ts';
import type { SyncSession } from './sync/session.ts';

/** The object has a null prototype, so that the page can call only the methods listed here. */
export function createHost(storage: DatabaseStorage): HostApi<MessagePort> {
  const host = new DatabaseHost(storage);
  const calls = new AbortableCalls();
  const inSync = <T>(body: (sync: SyncSession) => Promise<T>): Promise<Reply<T>> =>
    host.answer(({ database }) => body(database.sync));
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
    sync: (call) => inSync((sync) => sync.start(call)),
    submit: (call) =>
      inSync((sync) => calls.run(call.number, (abortable) => sync.submit(call, abortable))),
    syncWait: (call) => inSync((sync) => sync.wait(call)),
    writes: (states) => inSync((sync) => sync.writes(states)),
    verdict: (id) => inSync((sync) => sync.verdict(id)),
    resolveWrite: (id, choice) => inSync((sync) => sync.resolveWrite(id, choice)),
    stopSync: () =>
      host.answer(async ({ database }) => {
        await database.sync.stop();
        database.liveRouter.onContact();
      }),
    putFile: (file) => inSync(({ files }) => files.put(file as Blob)),
    getFile: (call) =>
      inSync(({ files }) => calls.runUntil(call.number, (signal) => files.get(call, signal))),
    fetchFile: (call) =>
      inSync(({ files }) => calls.runUntil(call.number, (signal) => files.fetch(call, signal))),
    sendFile: (call) => inSync(({ files }) => files.send(call)),
    removeFile: (file) => inSync(({ files }) => files.remove(file)),
    files: () => inSync(({ files }) => files.list()),
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
