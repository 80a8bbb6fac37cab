/** The calls of the page, on one open database. */
import {
  PROTOCOL,
  type HostApi,
  type HttpCall,
  type HttpReply,
  type LossReport,
  type LogFile,
  type OpenOptions,
  type OpenReply,
  type PageMessage,
  type Reply,
  type WorkerMessage,
} from '../src/host/api.ts';
import { Refusal } from '../src/errors.ts';
import { handleRequest } from '../src/http/handle.ts';
import type { Loss } from './birth-stamp.ts';
import { holdForLife } from './locks.ts';
import { openDatabase, type OpenDatabase } from './open-database.ts';
import { OutgoingStreams } from './outgoing-streams.ts';
import { probePersistence } from './persistence.ts';
import { QueryRunner } from './query-runner.ts';
import { refusalOf, replyOf, report } from './replies.ts';
import type { StoredDatabase } from './stored-database.ts';

export interface HostOptions {
  /** Opens what is stored under a name. `onClosed`: the browser or another tab took it away. */
  readonly openStore: (
    name: string,
    onClosed: (description: string) => void,
  ) => Promise<StoredDatabase>;
}

interface Opened {
  readonly stored: StoredDatabase;
  readonly database: OpenDatabase;
  readonly runner: QueryRunner;
  readonly streams: OutgoingStreams;
  readonly port: MessagePort;
}

type State =
  | { readonly kind: 'new' }
  | { readonly kind: 'opening' }
  | { readonly kind: 'open'; readonly opened: Opened }
  | { readonly kind: 'closed'; readonly description: string };

const VERIFY_STEP = 1000;

/** A null prototype: what the page can name is what is written here. */
export function createHost(options: HostOptions): HostApi<MessagePort> {
  const host = new Host(options);
  const api: HostApi<MessagePort> = {
    open: (...call) => host.open(...call),
    query: (call) => host.answer(({ runner }) => runner.run(call)),
    http: (call) => host.answer((opened) => answerHttp(opened, call)),
    logFile: (id, version) => host.answer(({ database }) => readLogFile(database, id, version)),
    verify: () => host.answer(verify),
    acknowledgeLoss: () =>
      host.answer(async ({ stored }) => {
        await stored.acknowledgeLoss();
        return undefined;
      }),
    close: () => host.close(),
    destroy: () => host.destroy(),
  };
  return Object.freeze(Object.assign(Object.create(null) as object, api));
}

class Host {
  private readonly options: HostOptions;
  private state: State = { kind: 'new' };
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(options: HostOptions) {
    this.options = options;
  }

  open(options: OpenOptions, port: MessagePort): Promise<Reply<OpenReply>> {
    return replyOf(async () => {
      if (this.state.kind !== 'new') throw new Error('A worker opens one database, once.');
      if (options.protocol !== PROTOCOL) throw new Error('The page is of another build.');
      this.state = { kind: 'opening' };
      const tell = (message: WorkerMessage): void => port.postMessage(message);
      // None of these waits for another.
      const persistenceProbed = probePersistence();
      const opening = this.options.openStore(options.name, (description) =>
        this.lose(description, tell),
      );
      const database = await openDatabase(
        opening.then(({ store }) => store),
        options,
        {
          tell,
          ready: holdForLife(options.aliveLock),
          onDestroyed: () => this.lose('The database was deleted in another tab.', tell),
        },
      );
      const stored = await opening;
      const streams = new OutgoingStreams({ tell, refusalOf });
      const opened = { stored, database, runner: new QueryRunner(database), streams, port };
      this.state = { kind: 'open', opened };
      port.addEventListener('message', ({ data }: MessageEvent<PageMessage>) => hear(opened, data));
      port.start();
      const persistence = await persistenceProbed;
      return { rootSecret: database.rootSecret, persistence, loss: reportOf(stored.loss) };
    });
  }

  answer<T>(work: (opened: Opened) => Promise<T>): Promise<Reply<T>> {
    const { state } = this;
    const running = replyOf(async () => {
      if (state.kind === 'open') return work(state.opened);
      const description = state.kind === 'closed' ? state.description : 'It is not open yet.';
      throw new Refusal('storage_unavailable', description);
    });
    this.underWay.add(running);
    void running.finally(() => this.underWay.delete(running));
    return running;
  }

  close(): Promise<Reply<undefined>> {
    return replyOf(async () => {
      await this.shut();
      return undefined;
    });
  }

  destroy(): Promise<Reply<undefined>> {
    return replyOf(async () => {
      const opened = await this.shut((each) => each.database.tabs.tell({ type: 'destroyed' }));
      await opened?.stored.destroy();
      return undefined;
    });
  }

  /** Refuses new calls, waits for the running ones, lets go. */
  private async shut(before?: (opened: Opened) => void): Promise<Opened | undefined> {
    const { state } = this;
    if (state.kind !== 'open') return undefined;
    const { opened } = state;
    this.state = { kind: 'closed', description: 'The database was closed.' };
    await opened.streams.close();
    await Promise.all(this.underWay);
    before?.(opened);
    await opened.database.close();
    return opened;
  }

  /** The store is gone, unasked. */
  private lose(description: string, tell: (message: WorkerMessage) => void): void {
    if (this.state.kind === 'closed') return;
    const { state } = this;
    this.state = { kind: 'closed', description };
    tell({ type: 'closed', description });
    if (state.kind === 'open') state.opened.database.close().catch(report);
  }
}

function hear({ database, streams, port }: Opened, message: PageMessage): void {
  switch (message.type) {
    case 'subscribe':
      database.live.add(message.id, message.secret, message.query);
      return;
    case 'unsubscribe':
      database.live.remove(message.id);
      return;
    case 'pull':
      void streams.pull(message.stream);
      return;
    case 'cancel':
      streams.cancel(message.stream).catch(report);
      return;
    case 'ping':
      port.postMessage({ type: 'pong' } satisfies WorkerMessage);
  }
}

function reportOf(loss: Loss | undefined): LossReport | undefined {
  if (!loss) return undefined;
  const { kind, lastHead } = loss;
  const until = new Date(lastHead / 1000).toISOString();
  // The mark follows commits with some delay: there may be none in it yet.
  const lastCommit = lastHead > 0 ? ` The last commit known of was at ${until}.` : '';
  const description =
    kind === 'recreated'
      ? `All data of this database is gone: the browser deleted it, or lost its files.${lastCommit} The database is new and empty.`
      : `The browser put this database back to an earlier state. Commits up to ${until} are missing.`;
  return { kind, lastHead, description };
}

async function answerHttp(
  { database, streams, runner }: Opened,
  call: HttpCall,
): Promise<HttpReply> {
  const { status, headers, body } = await handleRequest(call, database.http);
  runner.scheduleFlush();
  return { status, headers, body: typeof body === 'string' ? body : { stream: streams.add(body) } };
}

async function readLogFile(
  { exports }: OpenDatabase,
  id: string,
  version: number,
): Promise<LogFile | undefined> {
  const found = await exports.file(id, version);
  if (!found) return undefined;
  const parts: BlobPart[] = [];
  for await (const chunk of found.chunks) parts.push(chunk as Uint8Array<ArrayBuffer>);
  return { name: found.name, file: new Blob(parts, { type: 'application/gzip' }) };
}

async function verify({ database, port }: Opened): Promise<readonly string[]> {
  const tell = (done: number, isComplete: boolean): void =>
    port.postMessage({
      type: 'progress',
      task: 'verify',
      name: undefined,
      done,
      isComplete,
    } satisfies WorkerMessage);
  let told = 0;
  let checked = 0;
  const problems = await database.engine.verify((done) => {
    checked = done;
    if (done - told < VERIFY_STEP) return;
    told = done;
    tell(done, false);
  });
  tell(checked, true);
  return problems;
}
