/** A round of a syncer: pushes the outbox, pulls changes, and compares sets if a comparison is due. */
import { Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pushed } from '../../protocol/messages.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';
import { pushSizeOf } from '../outbox/push-size.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { ExchangeSize } from './exchange-size.ts';
import type { FenceHolder } from './fence-holder.ts';
import type { HintListener } from './hint-listener.ts';
import type { ProgressReporter } from './progress-reporter.ts';
import { Puller } from './puller.ts';
import type { SyncerOptions } from './syncer-options.ts';
import { ForeignAnswer, OTHER_ANSWER, RefusedByHub, RetryLater } from './transport.ts';

const PUSHES_PER_PULL = 4;

/** The hub stores nothing now, but may answer reads: its disk is full, or its database is read-only. */
const isNothingStored = (reason: unknown): boolean =>
  reason instanceof RefusedByHub &&
  ['quota_exceeded', 'storage_unavailable'].includes(reason.refusal.code);

/** A pause until it is sent again gives the hub time. Otherwise it would be sent as fast as the hub fails. */
const NOT_EXECUTED: SyncRefusal = {
  code: 'storage_unavailable',
  description: 'The hub could not execute the oldest unsent write now. It is sent again.',
};

export interface PushOutcome {
  /** The outbox has no unsent writes. */
  readonly isDone: boolean;
  /** The state after applying a pull that came with the last answer, if there is nothing else to pull. */
  readonly pulled: ReplicaState | undefined;
}

interface RoundParts {
  readonly holder: FenceHolder;
  readonly reporter: ProgressReporter;
  readonly hints: HintListener;
  /** Called with the hub's time of a verdict that has just come. */
  readonly onVerdictTime: (ts: Micros) => void;
}

export class SyncRounds {
  private readonly options: SyncerOptions;
  private readonly parts: RoundParts;
  private readonly size = new ExchangeSize();
  private readonly puller: Puller;
  private mustPull = true;

  constructor(options: SyncerOptions, parts: RoundParts) {
    this.options = options;
    this.parts = parts;
    this.puller = new Puller(options, { ...parts, size: this.size });
  }

  /** Makes the next round pull even if a hint contained a pull, because the caller needs the present state of the hub. */
  pullNext(): void {
    this.mustPull = true;
  }

  /** When the pull that the next round will use was sent in advance. */
  get askedAheadAt(): number | undefined {
    return this.puller.askedAheadAt;
  }

  /** @returns whether nothing is left to do */
  async round(): Promise<boolean> {
    const { events, wallClock } = this.options;
    const { reporter } = this.parts;
    const since = this.askedAheadAt ?? wallClock();
    const hinted = await this.applyHint();
    // If writes are waiting, the round goes on to push them, no matter how many hints come.
    if (hinted && hinted.settledSeq === hinted.lastSeq) {
      await reporter.report(hinted);
      return true;
    }
    let heldUp: unknown;
    const pushed = await this.push().catch((reason: unknown) => {
      if (!(reason instanceof Refusal) && !isNothingStored(reason)) throw reason;
      heldUp = reason;
    });
    let { state, isWhole } = pushed?.pulled
      ? { state: pushed.pulled, isWhole: true }
      : await this.puller.pull();
    await reporter.report(state);
    // If the push failed, pulls everything now, so that changes of others still arrive.
    if (!pushed) while (!isWhole) ({ state, isWhole } = await this.puller.pull());
    const isSure =
      state.suspectSince === undefined || (isWhole && (await this.puller.repairSets(state)));
    if (!state.staged && isSure) {
      const loaded = state.sets.filter(isLoaded).map(({ id }) => id);
      events.onRound(since, loaded, isWhole);
    }
    if (!pushed) throw heldUp;
    return pushed.isDone && isWhole && isSure;
  }

  /** @throws RefusedByHub, ForeignAnswer; Refusal if a write is too long for a server between the device and the hub */
  async push(): Promise<PushOutcome> {
    const { size } = this;
    const { replica, transport } = this.options;
    const { holder, reporter } = this.parts;
    let pulled: ReplicaState | undefined;
    for (let i = 0; i < PUSHES_PER_PULL; i++) {
      const most = size.of(SYNC_LIMITS.pushChars);
      const items = await replica.outgoing({ count: SYNC_LIMITS.pushItems, chars: most });
      const [first] = items;
      if (!first) return { isDone: true, pulled };
      const state = await holder.state();
      const { device, epoch, settledSeq } = state;
      const request = size
        .answerOf(transport.push({ device, epoch, items, settled: settledSeq }))
        .catch((reason: unknown) => {
          const chars = pushSizeOf(first);
          if (chars <= most || reason instanceof RefusedByHub || reason instanceof RetryLater)
            throw reason;
          // After failures less is sent at a time, and the first write alone exceeds that.
          throw new Refusal(
            'request too large',
            `The oldest unsent write (${chars} characters) does not reach the hub: servers on the way must accept 8 MiB. ${String(reason)}`,
            { cause: reason },
          );
        });
      // Reports while the hub works on the push: the number of waiting writes is known already.
      const [pushed] = await Promise.all([request, reporter.report(state)]);
      if (!pushed.verdicts.every(({ hash }, at) => hash === items[at]?.hash))
        throw new ForeignAnswer(OTHER_ANSWER);
      if (pushed.verdicts.length === 0) throw new RefusedByHub(NOT_EXECUTED);
      pulled = await this.applyVerdicts(pushed);
    }
    return { isDone: false, pulled };
  }

  /** Applies verdicts together with the changes that came with them in one commit, if the answer has everything there is to pull. */
  private async applyVerdicts({ verdicts, brought }: Pushed): Promise<ReplicaState | undefined> {
    const { replica, events } = this.options;
    const { holder, onVerdictTime } = this.parts;
    const last = verdicts.at(-1);
    const isAll = last !== undefined && last.seq === brought?.pulled.verdicts.at(-1)?.seq;
    const state = isAll ? await this.puller.applyPiggybacked(brought) : undefined;
    if (!state)
      for (const record of await replica.settle(holder.fence, verdicts)) events.onVerdict(record);
    if (last?.ts !== undefined) onVerdictTime(last.ts);
    return state;
  }

  /** Applies the pulls of hints, which saves the round's own pull. Undefined if none could be applied, or a pull was requested. */
  private async applyHint(): Promise<ReplicaState | undefined> {
    const pulls = this.parts.hints.takePulls();
    const { mustPull } = this;
    this.mustPull = false;
    let state: ReplicaState | undefined;
    if (!mustPull)
      // A pull may be invalid for the present state, but a later one valid, if this copy has pulled in between.
      for (const each of pulls) state = await this.puller.applyPiggybacked(each);
    return state;
  }
}
