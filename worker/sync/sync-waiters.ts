/**
 * Calls of this tab that wait for an event of sync. A hint only causes the store to be checked, because hints of other tabs may be lost.
 */
import { Refusal } from '../../src/errors.ts';
import type { JudgedData } from '../../src/host/sync.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { KeptSet } from '../../src/sync/device/state/replica-state.ts';
import { remember } from '../../src/values/remember.ts';
import { judgedData } from './session-data.ts';

export interface SyncWaitersOptions {
  readonly replica: Replica;
  /** A write has received its verdict. Called once for each verdict. */
  readonly emit: (write: JudgedData) => void;
  readonly kick: () => void;
  readonly report: (reason: unknown) => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

interface SyncedWaiter extends Waiter {
  readonly set: string | undefined;
  /** Wall-clock time in ms, which is the same in all tabs. */
  from: number;
}

/** How many emitted verdicts are remembered, so as not to emit them twice. */
const EMITTED_MAX = 1000;

export class SyncWaiters {
  private readonly options: SyncWaitersOptions;
  /** By id of the write: `judgedTo` at the last check. Writes up to there had verdicts then. Empty before the first check. */
  private readonly expected = new Map<string, string>();
  /** The most recently emitted verdicts: a verdict may arrive in several ways at once. */
  private readonly emitted = new Map<string, undefined>();
  private readonly schema = new Set<Waiter>();
  private readonly settled = new Set<Waiter>();
  private readonly synced = new Set<SyncedWaiter>();
  private isChecking = false;
  private mustCheck = false;

  constructor(options: SyncWaitersOptions) {
    this.options = options;
  }

  expect(id: string): void {
    this.expected.set(id, '');
  }

  forget(id: string): void {
    this.expected.delete(id);
  }

  forSchema(): Promise<void> {
    return this.until(this.schema);
  }

  forSettled(): Promise<void> {
    return this.until(this.settled);
  }

  /** @throws Refusal when the copy does not have the set, now or when the wait ends, or when the hub refuses the set */
  async forSynced(set: string | undefined): Promise<void> {
    await this.errorOf(set);
    await new Promise<void>((resolve, reject) => {
      this.synced.add({ set, from: Date.now(), resolve, reject });
      this.options.kick();
    });
    const error = await this.errorOf(set);
    if (!error) return;
    const code = error.code === 'permission denied' ? 'forbidden' : 'bad request';
    throw new Refusal(code, `The hub refuses this set: ${error.description}`);
  }

  onRound(since: number, loaded: readonly string[], isWhole: boolean): void {
    const now = Date.now();
    for (const wait of this.synced) {
      if (now < wait.from) {
        // The clock was set back: waits for a later round.
        wait.from = now;
        this.options.kick();
        continue;
      }
      if (wait.from > since) continue;
      // After a round with all sets, a set that is not among them is no longer part of the copy.
      if (!isWhole && !(wait.set !== undefined && loaded.includes(wait.set))) continue;
      this.synced.delete(wait);
      wait.resolve();
    }
  }

  onVerdict(write: JudgedData): void {
    this.expected.delete(write.id);
    // A hub that was restored from a backup gives another verdict.
    const name = `${write.id} ${write.ts}`;
    if (this.emitted.has(name)) return;
    remember(this.emitted, name, undefined, EMITTED_MAX);
    this.options.emit(write);
  }

  failSchema(reason: unknown): void {
    rejectAll(this.schema, reason);
  }

  /** Rejects all waiting calls, with the reason. */
  fail(reason: unknown): void {
    for (const waiting of [this.schema, this.settled, this.synced]) rejectAll(waiting, reason);
  }

  /** Called when the copy has changed: checks the store again. */
  async check(): Promise<void> {
    this.mustCheck = true;
    if (this.isChecking) return;
    this.isChecking = true;
    while (this.mustCheck) {
      this.mustCheck = false;
      await this.checkOnce().catch(this.options.report);
    }
    this.isChecking = false;
  }

  private async checkOnce(): Promise<void> {
    const { replica } = this.options;
    if (this.schema.size + this.settled.size + this.expected.size === 0) return;
    const state = await replica.state();
    if (!state) return;
    if (state.schema !== undefined) release(this.schema);
    if (state.settledSeq >= state.lastSeq) release(this.settled);
    // Thousands of writes may wait, and each commit causes a check. Verdicts arrive in order, so writes are read again only if the last
    // number with a verdict has changed, or the numbers themselves.
    const judgedTo = `${state.era} ${state.settledSeq}`;
    const gone = new Set<string>();
    for (const [id, seen] of this.expected) if (seen !== judgedTo) gone.add(id);
    if (gone.size === 0) return;
    for (const record of await replica.writesById([...gone])) {
      gone.delete(record.id);
      const judged = judgedData(record);
      if (judged) this.onVerdict(judged);
      else if (this.expected.has(record.id)) this.expected.set(record.id, judgedTo);
    }
    // These writes were resolved before their verdicts were seen here: no verdict will arrive.
    for (const id of gone) this.forget(id);
  }

  /** Why the hub refuses the set. Undefined if it does not. @throws Refusal `not found` */
  private async errorOf(set: string | undefined): Promise<KeptSet['error']> {
    if (set === undefined) return undefined;
    const state = await this.options.replica.state();
    const kept = state?.sets.find(({ id }) => id === set);
    if (kept) return kept.error;
    throw new Refusal('not found', 'This set is not synced. Pass it to `sync()` first.');
  }

  private until(waiting: Set<Waiter>): Promise<void> {
    return new Promise((resolve, reject) => {
      waiting.add({ resolve, reject });
      void this.check();
    });
  }
}

function rejectAll(waiting: Set<Waiter>, reason: unknown): void {
  for (const { reject } of waiting) reject(reason);
  waiting.clear();
}

function release(waiting: Set<Waiter>): void {
  for (const { resolve } of waiting) resolve();
  waiting.clear();
}
