/** The calls of a page on a database that is not a copy and cannot be locked. Whichever place `at` names, the hub answers. */
import { Refusal } from '../src/errors.ts';
import type { HostApi, PageMessage, Reply, WorkerMessage } from '../src/host/api.ts';
import type { LogFile } from '../src/host/log.ts';
import type { HttpCall, HttpReply, QueryCall, QueryReply } from '../src/host/query.ts';
import { AbortableCalls, type Abortable } from '../worker/queries/abortable-calls.ts';
import { refused } from '../worker/queries/live-queries.ts';
import { OutgoingStreams } from '../worker/queries/outgoing-streams.ts';
import { holdUntil } from '../worker/tabs/web-locks.ts';
import { replyOf } from '../worker/queries/replies.ts';
import { wrongLivePlace } from '../worker/sync/live-router.ts';
import { checkPlace } from '../worker/sync/route-query.ts';

type Emit = (message: WorkerMessage) => void;
type Subscribing = Extract<PageMessage, { readonly type: 'subscribe' }>;

export interface PlainHttpReply extends Omit<HttpReply, 'body'> {
  readonly body: string | AsyncIterable<string | Uint8Array>;
}

export interface PlainDatabase {
  readonly rootSecret: string;
  query(call: QueryCall, abortable: Partial<Abortable>): Promise<QueryReply>;
  http(call: HttpCall): Promise<PlainHttpReply>;
  logFile(id: string, version: number): Promise<LogFile | undefined>;
  verify(): Promise<readonly string[]>;
  subscribe(id: number, secret: string, query: string, emit: Emit): void;
  unsubscribe(id: number): void;
  /** Ends the live queries of this page. */
  leave(): void;
}

export interface PlainHostOptions {
  /** Aborted when the page has terminated the worker. */
  readonly ended: AbortSignal;
}

const NOT_HERE = 'A database at a hub has no sync, no lock, no files and nothing to salvage here.';
const NO_LOCK =
  'A database at a hub keeps nothing on this device that could be locked: `signOut({ forget: true })` closes it, and `Logout` ends a token.';

export function plainHost(
  database: PlainDatabase,
  { ended }: PlainHostOptions,
): HostApi<MessagePort> {
  const calls = new AbortableCalls();
  let streams: OutgoingStreams | undefined;
  const refusing = (why: string) => (): Promise<Reply<never>> =>
    replyOf(() => Promise.reject(new Refusal('bad request', why)));
  const refuse = refusing(NOT_HERE);
  const close = (): Promise<Reply<void>> =>
    replyOf(async () => {
      database.leave();
      await streams?.close();
    });
  const subscribe = ({ id, secret, query, at }: Subscribing, emit: Emit): void => {
    const wrong = at === undefined ? at : wrongLivePlace(at);
    if (wrong === undefined) database.subscribe(id, secret, query, emit);
    else emit({ type: 'answer', id, ...refused(new Refusal('bad request', wrong)) });
  };
  const onMessage = (port: MessagePort, message: PageMessage): void => {
    const emit: Emit = (said) => port.postMessage(said);
    if (message.type === 'subscribe') subscribe(message, emit);
    else if (message.type === 'unsubscribe') database.unsubscribe(message.id);
    else if (message.type === 'pull') void streams?.pull(message.stream);
    else if (message.type === 'cancel') void streams?.cancel(message.stream);
    else if (message.type === 'ping') emit({ type: 'pong' });
  };
  return {
    open: ({ aliveLock }, port) =>
      replyOf(async () => {
        await holdUntil(ended, aliveLock);
        streams = new OutgoingStreams((said) => port.postMessage(said));
        port.addEventListener('message', ({ data }: MessageEvent<PageMessage>) =>
          onMessage(port, data),
        );
        port.start();
        const { rootSecret } = database;
        return { birth: 'plain', rootSecret, persistence: 'none', loss: undefined } as const;
      }),
    query: (call) =>
      replyOf(() => {
        if (call.at !== undefined) checkPlace(call.at);
        return calls.run(call.number, (abortable) => database.query(call, abortable));
      }),
    abort: (call) => replyOf(async () => calls.abort(call)),
    http: (call) =>
      replyOf(async () => {
        const { body, ...reply } = await database.http(call);
        if (typeof body === 'string') return { ...reply, body };
        const stream = streams?.add(body);
        return stream === undefined ? { ...reply, body: '' } : { ...reply, body: { stream } };
      }),
    logFile: (id, version) => replyOf(() => database.logFile(id, version)),
    verify: () => replyOf(() => database.verify()),
    acknowledgeLoss: () => replyOf(async () => undefined),
    close,
    destroy: close,
    forget: close,
    salvage: refuse,
    unsent: () => replyOf(async () => 0),
    lock: refusing(NO_LOCK),
    unlock: refuse,
    sync: refuse,
    submit: refuse,
    syncWait: refuse,
    writes: refuse,
    verdict: refuse,
    resolveWrite: refuse,
    stopSync: refuse,
    putFile: refuse,
    getFile: refuse,
    fetchFile: refuse,
    sendFile: refuse,
    removeFile: refuse,
    files: () => replyOf(async () => []),
  };
}
