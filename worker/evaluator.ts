/** The second worker of a page: its own engine over the same stored database, for long queries. */
import { sha256 } from '@noble/hashes/sha2.js';
import { createClock } from '../hosts/clock.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { QueryAnswer } from '../src/engine/host.ts';
import { detachedExecutions } from '../src/engine/transactions.ts';
import type { Store } from '../src/store/port.ts';
import { Replica } from '../src/sync/device/replica/replica.ts';
import { random } from './browser/random.ts';
import { locked } from './lock/lock.ts';
import { findStore, type DatabaseStorage } from './opening/find-store.ts';
import { shortNotice } from './opening/follow-commits.ts';
import { joinTabs, type JoinedTabs } from './opening/join-tabs.ts';
import { openEngine } from './opening/open-engine.ts';
import type {
  EvaluatorOptions,
  FromEvaluator,
  LongQuery,
  ToEvaluator,
} from './queries/evaluator-messages.ts';
import { refusalOf } from './queries/replies.ts';

export function serveEvaluator(scope: DedicatedWorkerGlobalScope, storage: DatabaseStorage): void {
  const send = (message: FromEvaluator): void => scope.postMessage(message);
  const evaluator = new Evaluator(storage, () => send({ type: 'may-write' }));
  scope.addEventListener('message', ({ data }: MessageEvent<ToEvaluator>) => {
    switch (data.type) {
      case 'open':
        // If opening fails, the error event ends this worker, and the page's worker executes long queries itself.
        evaluator.open(data.options).then(() => send({ type: 'opened' }), reportError);
        return;
      case 'query':
        evaluator.execute(data.query).then(
          (answer) => send({ type: 'answer', answer }),
          (reason: unknown) => send({ type: 'refused', refusal: refusalOf(reason) }),
        );
        return;
      case 'write':
        evaluator.onMayWrite();
    }
  });
}

/** How long this worker still counts as an open tab after a write, because the next query may write too. */
const STAY_MS = 1_000;

class Evaluator {
  private readonly storage: DatabaseStorage;
  private readonly askToWrite: () => void;
  private opened: { readonly engine: Engine; readonly replica: Replica } | undefined = undefined;
  /** While this worker writes, it joins the other tabs as a tab of its own, so that none of them holds the lease. */
  private joined: JoinedTabs | undefined = undefined;
  private leaving: ReturnType<typeof setTimeout> | undefined = undefined;
  private name = '';
  private mayWrite: Promise<void> | undefined = undefined;
  onMayWrite: () => void = () => undefined;

  constructor(storage: DatabaseStorage, askToWrite: () => void) {
    this.storage = storage;
    this.askToWrite = askToWrite;
  }

  async open({ name, settings, birth, aliveLock, rootHash }: EvaluatorOptions): Promise<void> {
    const found = await findStore(
      this.storage,
      { name, birth, aliveLock, settings },
      // Nothing to do: the page's worker is notified when the store closes, and terminates this one.
      { onClosed: () => undefined, leaseTerm: () => undefined },
    );
    if (!found || found.isLocked) throw locked();
    this.name = name;
    const clock = createClock();
    const { stored, view } = openEngine({
      store: this.noted(found.stored.store),
      isLocked: false,
      settings,
      rootSecret: { hash: rootHash },
      joined: { lease: undefined },
      clock,
      // Nothing to do: the page's worker is notified too, and terminates this one.
      onLock: () => undefined,
      onDestroyed: () => undefined,
      detached: detachedExecutions,
    });
    stored.onCommit((notice) =>
      this.joined?.tabs.broadcast({ type: 'commit', notice: shortNotice(notice) }),
    );
    const replica = new Replica({ engine: stored, view, clock, random, sha256 });
    this.opened = { engine: stored, replica };
  }

  async execute({ request, isSynced }: LongQuery): Promise<QueryAnswer> {
    if (!this.opened) throw locked();
    const { engine, replica } = this.opened;
    clearTimeout(this.leaving);
    this.mayWrite = undefined;
    try {
      return await (isSynced ? replica.read(request) : engine.query(request));
    } finally {
      this.leaving = setTimeout(() => this.leave(), STAY_MS);
    }
  }

  /** Before the first write of a query, waits until the page's worker permits the write and no tab holds the lease. */
  private noted(store: Store): Store {
    return {
      read: (...read) => store.read(...read),
      write: async (...write) => {
        this.mayWrite ??= new Promise((resolve) => {
          this.onMayWrite = resolve;
          this.askToWrite();
        });
        await this.mayWrite;
        this.joined ??= joinTabs(this.name, {
          onDestroyed: () => undefined,
          onLock: () => undefined,
        });
        await this.joined.ready;
        return store.write(...write);
      },
      close: () => store.close(),
    };
  }

  private leave(): void {
    this.joined?.leave();
    this.joined = undefined;
  }
}
