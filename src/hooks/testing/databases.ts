/** Databases for tests of hooks: in memory, or of a worker that answers as a test needs it. */
import { FakeWorker } from '../../client/testing/fake-worker.ts';
import type { JudgedData, SyncCall, WriteData } from '../../host/sync.ts';
import {
  openDatabase,
  q,
  type Client,
  type Database,
  type Expr,
  type Ref,
  type SetRef,
} from '../../index.ts';

let databases = 0;

/** One database for all tests of a file, because a worker takes seconds to load. Each test has its own collection in it. */
let shared: Promise<Database> | undefined;

const openShared = (): Promise<Database> =>
  (shared ??= openDatabase('hooks', {
    worker: () =>
      new Worker(new URL('../../../worker/testing/memory-main.ts', import.meta.url), {
        type: 'module',
      }),
  }));

export interface Notes {
  readonly db: Database;
  readonly admin: Client;
  readonly collection: Expr<Ref>;
  readonly notes: Expr<SetRef<Ref>>;
  /** Expression of the number of notes. */
  readonly count: Expr<number>;
  readonly add: (text: string) => Expr;
  /** Numbers of subscriptions that clients have begun, and of those that are still open. */
  readonly begun: () => number;
  readonly live: () => number;
}

/** A database with an empty collection, whose clients count their subscriptions. */
export async function openNotes(): Promise<Notes> {
  const db = await openShared();
  // Removes the `client` that an earlier test has set, so that the prototype's is used.
  Reflect.deleteProperty(db, 'client');
  const admin = db.client();
  const name = `notes_${++databases}`;
  await admin.query(q.CreateCollection({ name }));
  let begun = 0;
  let live = 0;
  const counted: Client = Object.create(admin, {
    subscribe: {
      value: (...call: Parameters<Client['subscribe']>) => {
        begun++;
        live++;
        const stop = admin.subscribe(...call);
        return () => {
          live--;
          stop();
        };
      },
    },
  }) as Client;
  Object.defineProperty(db, 'client', { value: () => counted, configurable: true });
  const collection = q.Collection(name);
  const notes = q.Documents(collection);
  return {
    db,
    admin,
    collection,
    notes,
    count: q.Count(notes),
    add: (text) => q.Create(collection, { data: { text } }),
    begun: () => begun,
    live: () => live,
  };
}

/** A copy of a hub's database, with a fake worker in place of worker and hub. */
export interface FakeCopy {
  readonly open: () => Promise<Database>;
  readonly calls: SyncCall[];
  /** Refuses the next login. */
  refuseNext(): void;
  submitted(): readonly WriteData[];
  judge(id: string, verdict: Pick<JudgedData, 'state' | 'body'>): void;
  emitState(state: 'live' | 'offline' | 'locked'): void;
}

export function fakeCopy({ isKnown }: { readonly isKnown: boolean }): FakeCopy {
  const calls: SyncCall[] = [];
  const writes = new Map<string, WriteData>();
  let known = isKnown;
  let refuses = false;
  let locked = false;
  let fake: FakeWorker | undefined;
  const done = { ok: true, value: undefined } as const;
  const worker = (): Worker => {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    fake = new FakeWorker({
      open: ({ rootSecret, aliveLock }) => {
        // A worker holds this lock while it lives; without it, the page would believe it has ended.
        void navigator.locks.request(aliveLock, () => ended);
        return Promise.resolve({
          ok: true,
          value: {
            birth: 'b',
            rootSecret: locked ? undefined : (rootSecret ?? 'root'),
            persistence: 'best-effort',
            loss: undefined,
          },
        });
      },
      onMessage: (message, emit) => {
        if (message.type !== 'subscribe') return;
        const missing = [{ collection: 'notes' }];
        const isFromHub = message.at === 'hub-or-copy';
        const body = `{"resource":"of the ${isFromHub ? 'hub' : 'copy'}"}`;
        emit({
          type: 'answer',
          id: message.id,
          status: 200,
          body,
          ...(isFromHub ? { isFromHub } : { missing }),
        });
      },
      lock: () => {
        locked = true;
        return Promise.resolve(done);
      },
      unlock: (call) => {
        const isRight = 'password' in call && call.password === 'right';
        locked &&= !isRight;
        return Promise.resolve({
          ok: true,
          value: isRight
            ? { status: 200, body: '{"resource":{}}' }
            : { status: 401, body: '{"errors":[{"code":"unauthorized","description":"No."}]}' },
        });
      },
      sync: (call) => {
        calls.push(call);
        if (!known && !call.login)
          return Promise.resolve({
            ok: false,
            refusal: { code: 'login_needed', description: 'No user has logged in on this device.' },
          });
        const failed = {
          status: 400,
          body: '{"errors":[{"code":"authentication failed","description":"Wrong."}]}',
        };
        const isRefused = refuses;
        refuses = false;
        known ||= !isRefused;
        return Promise.resolve({
          ok: true,
          value: {
            secret: 's',
            state: 'live',
            failed: isRefused ? failed : undefined,
            missing: 0,
          },
        });
      },
      submit: ({ query, note }) => {
        const id = `0.${writes.size + 1}`;
        const made = { id, madeMicros: 0, query, replaces: undefined, note };
        writes.set(id, { ...made, state: 'local', predicted: undefined });
        const answer = { status: 201, body: '{"resource":"here"}', metrics: {} } as never;
        return Promise.resolve({ ok: true, value: { id, answer } });
      },
      writes: (states) =>
        Promise.resolve({
          ok: true,
          value: [...writes.values()].filter(({ state }) => !states || states.includes(state)),
        }),
      resolveWrite: (id) => {
        writes.delete(id);
        return Promise.resolve(done);
      },
    });
    const terminate = fake.terminate.bind(fake);
    fake.terminate = () => {
      end();
      terminate();
    };
    return fake.asWorker();
  };
  return {
    calls,
    open: () => openDatabase(`copy-${++databases}`, { worker }),
    refuseNext: () => {
      refuses = true;
    },
    submitted: () => [...writes.values()],
    judge: (id, verdict) => {
      const { madeMicros, query, replaces, note } = writes.get(id) ?? {
        madeMicros: 0,
        query: '',
        replaces: undefined,
        note: undefined,
      };
      const write = { id, madeMicros, query, replaces, note, ts: 7, ...verdict };
      writes.set(id, write);
      fake?.emit({ type: 'sync-verdict', write });
    },
    emitState: (state) => fake?.emit({ type: 'sync-state', state, reason: undefined }),
  };
}
