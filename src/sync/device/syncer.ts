/**
 * Keeps a replica in step with its hub: says hello, pushes what the outbox holds, pulls what changed, and does it again when something
 * moves. One at a time per copy: whoever takes the fence later stops the one before. Everything it learns is stored before it is told.
 */
import { SYNC_LIMITS } from '../../limits.ts';
import type { Micros } from '../../values/value.ts';
import {
  SYNC_PROTOCOL,
  type Brought,
  type Check,
  type DocumentName,
  type Pulled,
  type Pushed,
  type SyncRefusal,
  type SyncRefusalCode,
} from '../protocol.ts';
import {
  Fenced,
  isLoaded,
  type Replica,
  type ReplicaSet,
  type ReplicaState,
  type WriteRecord,
} from './api.ts';
import { isSameIdentity } from './actor.ts';
import { isAnswerTo } from './apply.ts';
import { Backoff } from './backoff.ts';
import { differencesFrom } from './differences.ts';
import { Hints } from './hints.ts';
import { Signal } from './signal.ts';
import { Busy, type Exchange, type Transport } from './transport.ts';

export type SyncState =
  | 'connecting'
  | 'catching-up'
  | 'live'
  | 'offline'
  | 'needs-login'
  | 'locked';

export interface SyncProgress {
  readonly sets: readonly Pick<ReplicaSet, 'id' | 'rows' | 'of' | 'error'>[];
  /** Stored text that came since the syncer began. */
  readonly bytes: number;
  /** Writes without a verdict, and how long the oldest of them has waited, ms. */
  readonly pending: number;
  readonly oldestPendingMs: number;
}

export interface SyncerEvents {
  onState(state: SyncState, reason: SyncRefusal | undefined): void;
  onVerdict(record: WriteRecord): void;
  onProgress(progress: SyncProgress): void;
  /** What is shown of these sets, by id, is what the hub had at this time of `wallClock`, ms, or later. `isWhole`: of all sets. */
  onRound(since: number, loaded: readonly string[], isWhole: boolean): void;
  /** Another tab has taken over. */
  onSuperseded(): void;
  /** What should not have happened: for a log. */
  onFault(reason: unknown): void;
}

export interface SyncerOptions {
  readonly replica: Replica;
  readonly transport: Transport;
  readonly clock: () => Micros;
  /** ms; the same in all tabs of the copy. */
  readonly wallClock: () => number;
  /** 0 to below 1. */
  readonly chance: () => number;
  /** Resolves after so many ms, or when the signal says so. */
  readonly wait: (ms: number, signal: Signal) => Promise<void>;
  readonly events: SyncerEvents;
  /** Longest time without a look at the hub, ms, while hints come, and while they do not. */
  readonly pollMs?: { readonly listening: number; readonly deaf: number };
}

const POLL_MS = { listening: 60_000, deaf: 10_000 };
const SLOW_RETRY_MS = 300_000;
const LEAST_RETRY_MS = 500;
const CLOCK_STEP: Micros = 60 * 1_000_000;
const ANOTHER = 'The login is of another person than the one whose copy this is.';
const PUSHES_PER_PULL = 4;
const REFETCH_MAX = 500;

const OF_THE_ID: ReadonlySet<SyncRefusalCode> = new Set([
  'client_forked',
  'epoch_changed',
  'gap',
  'bad_message',
]);

/** The hub has said no. */
class Refused extends Error {
  readonly refusal: SyncRefusal;
  readonly retryAfterMs: number | undefined;
  constructor(refusal: SyncRefusal, retryAfterMs: number | undefined) {
    super(refusal.description);
    this.refusal = refusal;
    this.retryAfterMs = retryAfterMs;
  }
}

export class Syncer {
  private readonly options: SyncerOptions;
  private readonly signal = new Signal();
  private readonly stopping = new Signal();
  private readonly backoff: Backoff;
  private readonly hints: Hints;
  private fence = 0;
  private isGreeted = false;
  private isStopped = false;
  /** Whoever kicked wants to know what the hub has now. */
  private mustAsk = true;
  /** Under which it was greeted. */
  private device = '';
  private bytes = 0;
  private skew: Micros | undefined = undefined;
  private running: Promise<void> | undefined = undefined;
  private current: SyncState = 'connecting';

  constructor(options: SyncerOptions) {
    this.options = options;
    this.backoff = new Backoff(options.chance);
    this.hints = new Hints(options.transport, {
      onHint: () => this.signal.raise(),
      onEnd: () => this.kick(),
    });
  }

  get state(): SyncState {
    return this.current;
  }

  start(): void {
    this.running ??= this.run().catch((reason: unknown) => this.options.events.onFault(reason));
  }

  /** Something moved: a write was made, the network is back, somebody logged in. */
  kick(): void {
    this.mustAsk = true;
    this.signal.raise();
    // The hub may be long in saying no, or say nothing: that a write waits is known here.
    if (!this.isGreeted) void this.announce();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.hints.deafen();
    this.stopping.raise();
    this.signal.raise();
    await this.running;
  }

  private async run(): Promise<void> {
    await this.takeFence();
    while (!this.isStopped) {
      try {
        await this.goOn();
      } catch (reason) {
        await this.recover(reason);
      }
    }
    this.hints.deafen();
  }

  /** A store that fails once is no reason to leave the copy without a syncer. */
  private async takeFence(): Promise<void> {
    const { replica, events, wait } = this.options;
    while (!this.isStopped) {
      try {
        this.fence = await replica.takeFence();
        return;
      } catch (reason) {
        events.onFault(reason);
        await wait(this.backoff.next(), this.stopping);
      }
    }
  }

  /** What is done about it may fail too. */
  private async recover(reason: unknown): Promise<void> {
    // What was given up in order to stop tells nothing.
    if (this.isStopped) return;
    try {
      if (reason instanceof Fenced) {
        this.isStopped = true;
        this.options.events.onSuperseded();
      } else if (reason instanceof Refused) await this.meet(reason);
      else await this.loseContact(reason);
    } catch (next) {
      if (next instanceof Fenced) {
        await this.recover(next);
        return;
      }
      this.options.events.onFault(next);
      await this.options.wait(this.backoff.next(), this.signal);
    }
  }

  private async goOn(): Promise<void> {
    if (!this.isGreeted && !(await this.greet())) return;
    this.signal.lower();
    this.hints.listen(this.device);
    const isDone = await this.round();
    this.backoff.reset();
    if (!isDone || this.isStopped || !this.isGreeted) return;
    this.enter('live');
    await this.rest();
  }

  /** Until something moves, or it is time to look. A stream that says nothing is given up, lest nobody is at its other end. */
  private async rest(): Promise<void> {
    const { options, signal, hints } = this;
    const { listening, deaf } = options.pollMs ?? POLL_MS;
    if (!hints.isListening) {
      await options.wait(deaf, signal);
      if (!signal.isRaised) hints.forgive();
      return;
    }
    hints.wasSilent();
    for (let ms = 0; ms < listening && hints.isListening; ms += SYNC_LIMITS.silenceMs) {
      await options.wait(SYNC_LIMITS.silenceMs, signal);
      if (signal.isRaised) return;
      if (hints.wasSilent()) hints.deafen();
    }
  }

  // --- hello --------------------------------------------------------------------------------------

  /** False when the device goes on under another id: the hub must be told that one. */
  private async greet(): Promise<boolean> {
    const { replica, transport, clock } = this.options;
    if (this.current !== 'offline') this.enter('connecting');
    const state = await this.requireState();
    const welcome = answerOf(
      await transport.hello({
        protocol: SYNC_PROTOCOL,
        device: state.device,
        epoch: state.epoch,
        lastSeq: state.lastSeq,
      }),
    );
    const { epoch, lastSeq } = welcome;
    if (state.actor && !isSameIdentity(state.actor, welcome.actor))
      throw new Refused({ code: 'needs_login', description: ANOTHER }, undefined);
    if (lastSeq > state.lastSeq) return this.startAnew();
    const isOther = state.epoch !== undefined && epoch !== state.epoch;
    if (isOther || lastSeq < state.settledSeq) return this.reenter(epoch);
    const { skew } = await replica.greet(this.fence, welcome, clock());
    this.skew = skew;
    if (state.isLocked) await replica.lock(false);
    await replica.park(this.fence, false);
    this.isGreeted = true;
    this.enter('catching-up');
    this.device = state.device;
    return true;
  }

  /**
   * This copy is not the only one under its id, or has forgotten what it did. What the hub has judged under that id is judged; the rest
   * goes on under a new one.
   */
  private async startAnew(): Promise<false> {
    try {
      while (!(await this.push()).isPushed) {
        if (this.isStopped) return false;
        await this.options.wait(this.backoff.next(), this.stopping);
      }
    } catch (reason) {
      // Whatever it says of the old id: under a new one nothing is made twice, the hub knows a write by what it is.
      if (!(reason instanceof Refused) || !OF_THE_ID.has(reason.refusal.code)) throw reason;
    }
    return this.rename();
  }

  private async rename(): Promise<false> {
    await this.options.replica.rename(this.fence);
    return false;
  }

  /** The hub is not where it was. All that is kept here is offered again, under a new id: it knows by itself what it has made. */
  private async reenter(epoch: string): Promise<false> {
    await this.options.replica.reenter(this.fence, epoch);
    return false;
  }

  // --- rounds -------------------------------------------------------------------------------------

  /** True when nothing is left to do. */
  private async round(): Promise<boolean> {
    const { events } = this.options;
    const since = this.options.wallClock();
    const taken = await this.takeHint();
    if (taken) {
      await this.tellProgress(taken);
      return true;
    }
    const { isPushed, brought } = await this.push();
    const { state, isWhole } = brought ? { state: brought, isWhole: true } : await this.pull([]);
    await this.tellProgress(state);
    const isSure = state.suspectSince === undefined || (isWhole && (await this.checkSets(state)));
    const loaded = state.sets.filter(isLoaded).map(({ id }) => id);
    if (!state.staged && isSure) events.onRound(since, loaded, isWhole);
    return isPushed && isWhole && isSure;
  }

  /** `isPushed`: the outbox is empty. `brought`: the last answer held what there was to pull. */
  private async push(): Promise<{
    readonly isPushed: boolean;
    readonly brought: ReplicaState | undefined;
  }> {
    const { replica, transport } = this.options;
    let brought: ReplicaState | undefined;
    for (let i = 0; i < PUSHES_PER_PULL; i++) {
      const items = await replica.outgoing({
        count: SYNC_LIMITS.pushItems,
        bytes: SYNC_LIMITS.pushChars,
      });
      if (items.length === 0) return { isPushed: true, brought };
      const state = await this.requireState();
      const { device, epoch = '', settledSeq } = state;
      const asked = transport.push({ device, epoch, items, settled: settledSeq });
      // While the hub is at it: that they wait is known here.
      const [answer] = await Promise.all([asked, this.tellProgress(state)]);
      const pushed = answerOf(answer);
      brought = await this.takeOver(pushed);
      if (pushed.verdicts.length === 0) return { isPushed: false, brought };
    }
    return { isPushed: false, brought };
  }

  /** Verdicts, and what changed with them, in one commit where the answer holds all of it. */
  private async takeOver({ verdicts, brought }: Pushed): Promise<ReplicaState | undefined> {
    const { replica, events } = this.options;
    const last = verdicts.at(-1);
    const isAll = last !== undefined && last.seq === brought?.pulled.verdicts.at(-1)?.seq;
    const state = isAll ? await this.takeBrought(brought) : undefined;
    if (!state)
      for (const record of await replica.settle(this.fence, verdicts)) events.onVerdict(record);
    this.lookAtClock(last?.ts);
    return state;
  }

  /** The clock here was set, or the verdict is an old one: hello measures anew. */
  private lookAtClock(ts: Micros | undefined): void {
    if (ts === undefined || this.skew === undefined) return;
    if (Math.abs(ts - (this.options.clock() + this.skew)) > CLOCK_STEP) this.isGreeted = false;
  }

  private async pull(
    refetch: readonly DocumentName[],
  ): Promise<{ readonly state: ReplicaState; readonly isWhole: boolean }> {
    const { transport } = this.options;
    const before = await this.requireState();
    const pulled: Pulled = answerOf(
      await transport.pull({
        device: before.device,
        epoch: before.epoch ?? '',
        cursor: before.staged?.cursor ?? before.cursor,
        token: before.token,
        schema: before.schema,
        sets: before.sets.map(({ id, query, loaded, parts }) => ({ id, query, loaded, parts })),
        refetch,
        settled: before.settledSeq,
        maxBytes: SYNC_LIMITS.pullBytes,
      }),
    );
    const state = await this.apply(pulled, before.sets);
    return { state, isWhole: !pulled.more && state.sets.every(isLoaded) };
  }

  private async apply(pulled: Pulled, asked: readonly ReplicaSet[]): Promise<ReplicaState> {
    const { replica, events } = this.options;
    const { state, bytes, settled } = await replica.apply(this.fence, pulled, asked);
    this.bytes += bytes;
    for (const record of settled) events.onVerdict(record);
    return state;
  }

  /** A hint that says all there is to know needs no round. Undefined: it did not, or is for another state than this one. */
  private async takeHint(): Promise<ReplicaState | undefined> {
    const brought = this.hints.take();
    const { mustAsk } = this;
    this.mustAsk = false;
    return brought && !mustAsk ? this.takeBrought(brought) : undefined;
  }

  private async takeBrought({ since, pulled }: Brought): Promise<ReplicaState | undefined> {
    const state = await this.requireState();
    const { cursor, epoch, staged, sets, suspectSince } = state;
    const ids = new Set(pulled.sets.map(({ id }) => id));
    const isMeant =
      suspectSince === undefined &&
      isAnswerTo(pulled, state) &&
      since === cursor &&
      pulled.epoch === epoch &&
      !staged &&
      ids.size === sets.length &&
      sets.every((set) => ids.has(set.id) && isLoaded(set));
    return isMeant ? this.apply(pulled, sets) : undefined;
  }

  /** Asks for just what differs. False: another comparison is due. */
  private async checkSets(state: ReplicaState): Promise<boolean> {
    const { replica, transport } = this.options;
    const check = async (message: Check) => answerOf(await transport.check(message));
    const { names, isAll } = await differencesFrom(check, replica, state);
    let after = state;
    for (let i = 0; i < names.length; i += REFETCH_MAX)
      ({ state: after } = await this.pull(names.slice(i, i + REFETCH_MAX)));
    if (!isAll || after.staged) return false;
    const { suspectSince } = await replica.checked(this.fence, state.suspectSince);
    return suspectSince === undefined;
  }

  // --- what goes wrong ----------------------------------------------------------------------------

  private async meet({ refusal, retryAfterMs }: Refused): Promise<void> {
    const { replica, wait } = this.options;
    this.isGreeted = false;
    this.hints.deafen();
    switch (refusal.code satisfies SyncRefusalCode) {
      case 'client_regressed':
        await this.startAnew();
        return;
      case 'client_forked':
      case 'device_taken':
        await this.rename();
        return;
      case 'epoch_changed':
      case 'gap':
        // Hello tells where the hub is.
        await wait(this.backoff.next(), this.signal);
        return;
      case 'needs_login':
        await replica.park(this.fence, true);
        this.enter((await this.requireState()).isLocked ? 'locked' : 'needs-login', refusal);
        await this.waitForKick();
        return;
      case 'locked':
        await replica.lock(true);
        this.enter('locked', refusal);
        await this.waitForKick();
        return;
      case 'upgrade_needed':
      case 'bad_message':
        this.enter('offline', refusal);
        await wait(SLOW_RETRY_MS, this.signal);
        return;
      default:
        this.enter('offline', refusal);
        if (retryAfterMs === undefined) await wait(this.backoff.next(), this.signal);
        else await wait(Math.min(retryAfterMs, SLOW_RETRY_MS), this.stopping);
    }
  }

  /** No answer came: what the hub has done is found out by hello. */
  private async loseContact(reason: unknown): Promise<void> {
    this.isGreeted = false;
    this.hints.deafen();
    this.options.events.onFault(reason);
    this.enter('offline');
    const state = await this.requireState();
    await this.tellProgress(state);
    this.signal.lower();
    const least = reason instanceof Busy ? reason.retryAfterMs : LEAST_RETRY_MS;
    const ms = Math.max(this.backoff.next(), least);
    // However often something moves: a hub that is not there, or has asked for time, is not asked before.
    await this.options.wait(Math.min(least, SLOW_RETRY_MS), this.stopping);
    await this.options.wait(Math.max(0, ms - least), this.signal);
    if (this.signal.isRaised) this.backoff.ease();
  }

  private async waitForKick(): Promise<void> {
    this.signal.lower();
    while (!this.isStopped && !this.signal.isRaised)
      await this.options.wait(SLOW_RETRY_MS, this.signal);
  }

  // --- telling ------------------------------------------------------------------------------------

  private enter(state: SyncState, reason?: SyncRefusal): void {
    if (state === this.current && !reason) return;
    this.current = state;
    this.options.events.onState(state, reason);
  }

  private async tellProgress({ sets, lastSeq, settledSeq, skew }: ReplicaState): Promise<void> {
    const { replica, clock, events } = this.options;
    const pending = lastSeq - settledSeq;
    const [oldest] = pending > 0 ? await replica.outgoing({ count: 1, bytes: 1 }) : [];
    events.onProgress({
      sets: sets.map(({ id, rows, of, error }) => ({ id, rows, of, error })),
      bytes: this.bytes,
      pending,
      oldestPendingMs: oldest ? Math.max(0, (clock() + skew - oldest.now) / 1000) : 0,
    });
  }

  private async announce(): Promise<void> {
    try {
      await this.tellProgress(await this.requireState());
    } catch (reason) {
      if (!(reason instanceof Fenced)) this.options.events.onFault(reason);
    }
  }

  private async requireState(): Promise<ReplicaState> {
    const state = await this.options.replica.state();
    if (state?.fence !== this.fence) throw new Fenced('Another tab has taken over.');
    return state;
  }
}

/** @throws Refused */
function answerOf<T>(exchange: Exchange<T>): T {
  if (exchange.ok) return exchange.value;
  throw new Refused(exchange.refusal, exchange.retryAfterMs);
}
