/** The program of a thread for long queries. It has an engine of its own over the store of the hub. */
import { exit } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { tryJson } from '../src/codec/plain-json.ts';
import { utf8Bytes } from '../src/codec/utf8.ts';
import { Refusal } from '../src/errors.ts';
import { HUB_LIMITS, LIMITS } from '../src/limits.ts';
import type { Engine } from '../src/engine/engine.ts';
import { detachedExecutions } from '../src/engine/transactions.ts';
import type { Store } from '../src/store/port.ts';
import { boundedReads } from './evaluators/bounded-reads.ts';
import type {
  FromEvaluator,
  LongPush,
  LongQuery,
  LongRead,
  ToEvaluator,
} from './evaluators/messages.ts';
import { textOf } from './evaluators/text-parts.ts';
import { QueryMarks } from './evaluators/query-marks.ts';
import { lowerThreadPriority } from './evaluators/thread-priority.ts';
import { withBody } from '../src/http/rest-query.ts';
import { SyncHub } from '../src/sync/hub/sync-hub.ts';
import { INVALID_JSON, isSyncRefusal } from '../src/sync/protocol/refusals.ts';
import { createHubEngine } from './instance/hub-engine.ts';
import type { EvaluatorData } from './instance/start-evaluator.ts';
import { PasswordPool } from './passwords/password-pool.ts';
import { openBorrowedStore } from './store/borrowed-store.ts';

interface Opened {
  readonly engine: Engine;
  readonly devices: SyncHub;
  close(): Promise<void>;
}

const port = parentPort;
if (!port) throw new Error('This file must be started as a thread.');

const { settings, url, rootHash, access, marks: buffer } = workerData as EvaluatorData;
lowerThreadPriority();
/**
 * Larger than in the main thread, because each fetch costs another execution of the query; with this size few queries need more
 * than one.
 */
const BORROWED_FETCH_BYTES = 4 * 1024 * 1024;
const marks = new QueryMarks(buffer);
let fatal: ReadonlySet<string> = new Set();
let opened: Promise<Opened> | undefined;

function send(message: FromEvaluator): void {
  const buffer = bytesOf(message)?.buffer;
  // The buffer is transferred, not copied.
  port?.postMessage(message, buffer instanceof ArrayBuffer ? [buffer] : []);
}

function bytesOf(message: FromEvaluator): Uint8Array | undefined {
  if (message.type === 'read')
    return isSyncRefusal(message.answer) ? undefined : message.answer.json;
  return message.type === 'answer' ? message.answer.bytes : undefined;
}

async function open(): Promise<Opened> {
  const borrowed = await openBorrowedStore(access);
  const pool = new PasswordPool({ hashCost: settings.hashCost, threads: 1, waitingMax: 1000 });
  const { engine, clock, authentication } = createHubEngine(settings, {
    url: () => url,
    rootHash,
    store: recordingWrites(borrowed.store),
    passwords: pool.passwords,
    detached: detachedExecutions,
    // The connection is borrowed, so the main thread reads the results from the database.
    ...('port' in access && { fetchBytes: BORROWED_FETCH_BYTES }),
  });
  engine.onCommit((notice) => borrowed.announce(notice));
  const queryTimeoutMs = settings.queryTimeoutDefaultMs;
  const watchedWrites = {
    begin: (hash: string) => marks.recordExecution(hash),
    isFatal: (hash: string) => fatal.has(hash),
  };
  const devices = new SyncHub({
    ...authentication,
    engine,
    clock,
    queryTimeoutMs,
    watchedWrites,
  });
  return {
    engine,
    devices,
    async close() {
      devices.close();
      await pool.close();
      await borrowed.close();
    },
  };
}

/**
 * Records that the query may have written before its first write begins, so that the main thread knows it even if this thread
 * ends.
 */
const recordingWrites = (store: Store): Store => ({
  read: (body, options) => store.read(body, options),
  write(body, options) {
    marks.recordWrite();
    return store.write(body, options);
  },
  close: () => store.close(),
});

const NO_READS = { rows: [], ranges: [] };

const queryIn = (query: string, text = ''): string => (query === '' ? text : withBody(query, text));

async function answer(
  { engine }: Opened,
  { queryParts, ...request }: LongQuery,
): Promise<FromEvaluator> {
  const query = queryParts ? queryIn(request.query, textOf(queryParts)) : request.query;
  const full = await engine.query({ ...request, query });
  // Live queries need the read set, whichever thread executes them.
  const readSet =
    request.allows === 'read' ? boundedReads(full.readSet, HUB_LIMITS.liveFacts) : NO_READS;
  const answered = { ...full, readSet };
  const isLong = full.body.length > LIMITS.longTextChars;
  if (!request.takesBytes || !isLong) return { type: 'answer', answer: answered };
  return { type: 'answer', answer: { ...answered, body: '', bytes: utf8Bytes(full.body) } };
}

async function process({ devices }: Opened, push: LongPush): Promise<FromEvaluator> {
  const { secret, parts, message } = push;
  const offered = parts ? tryJson(textOf(parts)) : message;
  const pushed = offered === undefined ? INVALID_JSON : await devices.push(secret, offered);
  return { type: 'pushed', pushed };
}

async function answerRead(
  { devices }: Opened,
  { name, secret, message }: LongRead,
): Promise<FromEvaluator> {
  const answer =
    name === 'check'
      ? await devices.check(secret, message)
      : await devices.pullForOther(secret, message);
  if (isSyncRefusal(answer)) return { type: 'read', answer };
  const [told, read] = 'read' in answer ? [answer.pulled, answer.read] : [answer, undefined];
  return { type: 'read', answer: { json: utf8Bytes(JSON.stringify(told)), read } };
}

async function answerOrFailure(
  work: (on: Opened) => Promise<FromEvaluator>,
): Promise<FromEvaluator> {
  try {
    return await work(await (opened ??= open()));
  } catch (reason) {
    // If the engine could not be opened, the next query tries again.
    if (!(await isOpen())) opened = undefined;
    const message = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    return reason instanceof Refusal
      ? { type: 'failed', code: reason.code, message: reason.message }
      : { type: 'failed', message };
  }
}

const isOpen = async (): Promise<boolean> => (await opened?.catch(() => undefined)) !== undefined;

async function close(): Promise<void> {
  await (await opened?.catch(() => undefined))?.close();
  // Not `port.close()`, which Deno does not have.
  exit();
}

port.on('message', (message: ToEvaluator) => {
  switch (message.type) {
    case 'query':
      void answerOrFailure((on) => answer(on, message.request)).then(send);
      break;
    case 'push':
      fatal = new Set(message.fatal);
      void answerOrFailure((on) => process(on, message.push)).then(send);
      break;
    case 'read':
      void answerOrFailure((on) => answerRead(on, message.read)).then(send);
      break;
    case 'commit':
      void opened?.then(({ engine }) => engine.applyCommit(message.notice)).catch(() => undefined);
      break;
    case 'look':
      send({ type: 'alive' });
      break;
    case 'close':
      void close();
  }
});
