/** The calls of a page other than queries. */
import { refusalBody } from '../src/engine/session.ts';
import type { PageMessage, WorkerMessage } from '../src/host/api.ts';
import { DIAGNOSTICS_PATH } from '../src/host/diagnostics.ts';
import type { LogFile } from '../src/host/log.ts';
import type { LossData } from '../src/host/open.ts';
import type { HttpCall, HttpReply } from '../src/host/query.ts';
import { handleRequest } from '../src/http/handle.ts';
import type { Loss } from './store/birth-stamp.ts';
import { answerDiagnostics } from './diagnostics/answer-diagnostics.ts';
import { locked } from './lock/lock.ts';
import type { OpenDatabase } from './open-database.ts';
import type { OutgoingStreams } from './queries/outgoing-streams.ts';
import type { QueryRunner } from './queries/query-runner.ts';
import { report } from './queries/replies.ts';

export interface Opened {
  readonly name: string;
  readonly database: OpenDatabase;
  readonly runner: QueryRunner;
  readonly streams: OutgoingStreams;
  readonly port: MessagePort;
}

const VERIFY_STEP = 1000;

/** The response to an HTTP call on a locked database, in the form that clients of the path expect. */
export function lockedAnswer({ path }: HttpCall): HttpReply {
  const { code, status, message } = locked();
  const isMessage = path.startsWith('/api/') || path.startsWith('/files/');
  return {
    status,
    headers: { 'content-type': 'application/json;charset=utf-8' },
    body: isMessage ? JSON.stringify({ message }) : refusalBody(code, message),
  };
}

export const lossData = (loss: Loss | undefined): LossData | undefined =>
  loss && {
    kind: loss.kind,
    // The marker is written some time after each commit, so it may not contain the first one yet.
    lastCommit: loss.lastHead > 0 ? new Date(loss.lastHead / 1000) : undefined,
  };

export async function answerHttp(
  { database, streams, runner }: Opened,
  call: HttpCall,
): Promise<HttpReply> {
  if (call.path === DIAGNOSTICS_PATH) {
    const { http, stored } = database;
    const { engine, clock } = http;
    return answerDiagnostics(call, { ...database, engine, clock, store: stored.store });
  }
  const { status, headers, body } = await handleRequest(call, database.http);
  runner.scheduleFlush();
  return { status, headers, body: typeof body === 'string' ? body : { stream: streams.add(body) } };
}

export async function readLogFile(
  { http }: { readonly http: Pick<OpenDatabase['http'], 'exports'> },
  id: string,
  version: number,
): Promise<LogFile | undefined> {
  const found = await http.exports?.file(id, version);
  if (!found) return undefined;
  const parts: BlobPart[] = [];
  for await (const chunk of found.chunks) parts.push(chunk as Uint8Array<ArrayBuffer>);
  return { name: found.name, file: new Blob(parts, { type: 'application/gzip' }) };
}

export async function verify({ database, port }: Opened): Promise<readonly string[]> {
  let emitted = 0;
  let checked = 0;
  const emit = (isComplete: boolean): void => {
    emitted = checked;
    const progress = { type: 'progress', task: 'verify', name: undefined, done: emitted } as const;
    port.postMessage({ ...progress, isComplete } satisfies WorkerMessage);
  };
  let problems = await database.stored.verify();
  // Queries cannot read a damaged store, so the engine is checked only if the store is intact.
  if (problems.length === 0)
    problems = await database.engine.verify((done) => {
      checked = done;
      if (done - emitted >= VERIFY_STEP) emit(false);
    });
  const damaged = await database.sync.files.verify();
  emit(true);
  return [...problems, ...damaged];
}

/** Handles a message that the page sent through the port. */
export function onMessage({ database, streams, port }: Opened, message: PageMessage): void {
  switch (message.type) {
    case 'subscribe':
      if (database.isLocked) database.live.refuse(message.id, locked());
      else database.liveRouter.add(message.id, message.secret, message.query, message.at);
      return;
    case 'unsubscribe':
      database.liveRouter.remove(message.id);
      return;
    case 'network':
      database.sync.shared.onNetwork(message.change);
      return;
    case 'pull':
      void streams.pull(message.stream);
      return;
    case 'cancel':
      streams.cancel(message.stream).catch(report);
      return;
    case 'ended':
      database.stored.afterEnds(message.workers).catch(report);
      return;
    case 'hidden':
      void database.http.log?.flush();
      database.stored.maybeFlush().catch(report);
      return;
    case 'ping':
      port.postMessage({ type: 'pong' } satisfies WorkerMessage);
  }
}
