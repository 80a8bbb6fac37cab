/** A stand-in for the worker in tests of the page, which say what it answers. */
import { expose } from 'comlink';
import type { HostApi, PageMessage, RefusalData, WorkerMessage } from '../../host/api.ts';
import { openDatabase, type Database } from '../../index.ts';
import { type LossData, type OpenOptions, PROTOCOL } from '../../host/open.ts';
import type { QueryCall, QueryReply } from '../../host/query.ts';

export type FakeAnswers = Partial<Omit<HostApi<MessagePort>, 'open' | 'query'>> & {
  readonly query?: (
    call: QueryCall,
  ) => Promise<Pick<QueryReply, 'status' | 'body'> | { readonly refusal: RefusalData }>;
  readonly onMessage?: (message: PageMessage, emit: (message: WorkerMessage) => void) => void;
  readonly open?: HostApi<MessagePort>['open'];
};

export const METRICS = {
  bytesIn: 1,
  bytesOut: 2,
  computeOps: 3,
  readOps: 4,
  writeOps: 0,
  readBytes: 6,
  writeBytes: 7,
  queryTime: 8,
  retries: 9,
};

export const missing = new Promise<never>(() => undefined);

/** `instanceof Worker` is all it lacks. */
export class FakeWorker extends EventTarget {
  readonly opened: OpenOptions[] = [];
  isTerminated = false;
  loss: LossData | undefined = undefined;
  /** Sends a message to the page, once it has opened the database. */
  emit: (message: WorkerMessage) => void = () => undefined;
  private readonly port: MessagePort;
  private readonly far: MessagePort;
  private end: () => void = () => undefined;
  private readonly ended = new Promise<void>((resolve) => {
    this.end = resolve;
  });

  constructor(
    answers: FakeAnswers = {},
    hello: unknown = { type: 'burrow-ready', protocol: PROTOCOL },
  ) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.far = port2;
    port1.addEventListener('message', ({ data }) => {
      this.dispatchEvent(new MessageEvent('message', { data: data as unknown }));
    });
    port1.start();
    port2.addEventListener('message', ({ data }) => {
      if ((data as { type?: unknown }).type === 'burrow-hello' && hello) port2.postMessage(hello);
    });
    expose(this.api(answers), port2);
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }

  terminate(): void {
    this.isTerminated = true;
    this.end();
    this.port.close();
  }

  asWorker(): Worker {
    return this as unknown as Worker;
  }

  private api(answers: FakeAnswers): HostApi<MessagePort> {
    const done = () => Promise.resolve({ ok: true, value: undefined } as const);
    return {
      http: () => missing,
      logFile: () => missing,
      verify: () => Promise.resolve({ ok: true, value: [] }),
      acknowledgeLoss: done,
      abort: done,
      close: done,
      destroy: done,
      lock: done,
      unlock: () => missing,
      forget: done,
      salvage: () => missing,
      sync: () => missing,
      submit: () => missing,
      syncWait: done,
      writes: () => Promise.resolve({ ok: true, value: [] }),
      verdict: done,
      resolveWrite: done,
      stopSync: done,
      putFile: () => missing,
      getFile: () => missing,
      fetchFile: done,
      sendFile: done,
      removeFile: done,
      files: () => Promise.resolve({ ok: true, value: [] }),
      unsent: () => Promise.resolve({ ok: true, value: 0 }),
      ...answers,
      open: (options, port) => {
        this.opened.push(options);
        // As a worker does, which shows the page that it lives. Node has Web Locks since version 24.5.
        void globalThis.navigator?.locks?.request(options.aliveLock, () => this.ended);
        this.emit = (message) => port.postMessage(message);
        port.addEventListener('message', ({ data }: MessageEvent<PageMessage>) => {
          // Sent to every worker: no test of what else is said looks at it.
          if (data.type !== 'ended') answers.onMessage?.(data, this.emit);
        });
        port.start();
        if (answers.open) return answers.open(options, port);
        const rootSecret = options.rootSecret ?? 'root';
        return Promise.resolve({
          ok: true,
          value: { birth: 'b', rootSecret, persistence: 'best-effort', loss: this.loss },
        });
      },
      query: async (call) => {
        const reply = await (answers.query ?? (() => missing))(call);
        return 'refusal' in reply
          ? { ok: false, ...reply }
          : { ok: true, value: { metrics: METRICS, ...reply } };
      },
    };
  }
}

/** Opens a database in the page. Returns it with its first worker. */
export async function openFake(
  answers: FakeAnswers = {},
): Promise<{ readonly db: Database; readonly fake: FakeWorker }> {
  let first: FakeWorker | undefined;
  const db = await openDatabase('notes', {
    worker: () => {
      const fake = new FakeWorker(answers);
      first ??= fake;
      return fake.asWorker();
    },
  });
  if (!first) throw new Error('A database that is open has a worker.');
  return { db, fake: first };
}

/** Of a copy whose sync is live. */
export const copyAnswers: FakeAnswers = {
  sync: () =>
    Promise.resolve({
      ok: true,
      value: { secret: 's', state: 'live', failed: undefined, missing: 0 },
    }),
};

export const syncOptions = { url: 'http://hub.example', secret: 's', sets: [] };
