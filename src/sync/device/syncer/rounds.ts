/** Rounds of a syncer: push what the outbox holds, pull what changed, compare what is in doubt. */
import { Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pushed } from '../../protocol/messages.ts';
import { isSendable, pushSizeOf } from '../outbox/push-size.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { ExchangeSize } from './exchange-size.ts';
import type { FenceHolder } from './fence-holder.ts';
import type { HintListener } from './hint-listener.ts';
import type { ProgressReporter } from './progress-reporter.ts';
import { Puller } from './puller.ts';
import type { SyncerOptions } from './syncer-options.ts';
import { RefusedByHub, RetryLater } from './transport.ts';

const PUSHES_PER_PULL = 4;

export interface PushOutcome {
  /** The outbox is empty. */
  readonly isDone: boolean;
  /** The state after a pull that came with the last answer, when there is nothing else to pull. */
  readonly pulled: ReplicaState | undefined;
}

interface RoundParts {
  readonly holder: FenceHolder;
  readonly reporter: ProgressReporter;
  readonly hints: HintListener;
  /** The hub's time of a verdict that has just come. */
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

  /** Somebody asks for the present state of the hub: the next round pulls, even if a hint brought something. */
  pullNext(): void {
    this.mustPull = true;
  }

  /** Of what the next round takes over. */
  get askedAheadAt(): number | undefined {
    return this.puller.askedAheadAt;
  }

  /** @returns whether nothing is left to do */
  async round(): Promise<boolean> {
    const { events, wallClock } = this.options;
    const { reporter } = this.parts;
    const since = this.askedAheadAt ?? wallClock();
    const hinted = await this.applyHint();
    // Writes that wait are sent, however often others write.
    if (hinted && hinted.settledSeq === hinted.lastSeq) {
      await reporter.report(hinted);
      return true;
    }
    let heldUp: unknown;
    const pushed = await this.push().catch((reason: unknown) => {
      if (!(reason instanceof Refusal)) throw reason;
      heldUp = reason;
    });
    let { state, isWhole } = pushed?.pulled
      ? { state: pushed.pulled, isWhole: true }
      : await this.puller.pull();
    await reporter.report(state);
    // What others write comes all the same.
    if (!pushed) while (!isWhole) ({ state, isWhole } = await this.puller.pull());
    const isSure =
      state.suspectSince === undefined || (isWhole && (await this.puller.repairSets(state)));
    const loaded = state.sets.filter(isLoaded).map(({ id }) => id);
    if (!state.staged && isSure) events.onRound(since, loaded, isWhole);
    if (!pushed) throw heldUp;
    return pushed.isDone && isWhole && isSure;
  }

  /** @throws RefusedByHub; Refusal when a write is too long for the way to the hub */
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
      if (!isSendable(first)) {
        await this.takeNewDevice();
        continue;
      }
      const state = await holder.state();
      const { device, epoch = '', settledSeq } = state;
      const request = size
        .answerOf(transport.push({ device, epoch, items, settled: settledSeq }))
        .catch((reason: unknown) => {
          const chars = pushSizeOf(first);
          if (chars <= most || reason instanceof RefusedByHub || reason instanceof RetryLater)
            throw reason;
          // After failures less is sent at a time, and this write alone is more than that.
          throw new Refusal(
            'request too large',
            `The oldest unsent write, of ${chars} characters, does not reach the hub: servers on the way must accept 8 MiB. ${String(reason)}`,
            { cause: reason },
          );
        });
      // While the hub works: that they wait is known here.
      const [pushed] = await Promise.all([request, reporter.report(state)]);
      pulled = await this.applyVerdicts(pushed);
      if (pushed.verdicts.length === 0) break;
    }
    return { isDone: false, pulled };
  }

  /** Unsent writes continue under another device id; those that no push can carry are refused. */
  async takeNewDevice(): Promise<void> {
    const { replica, events } = this.options;
    for (const record of await replica.moveToNewDevice(this.parts.holder.fence))
      events.onVerdict(record);
  }

  /** Verdicts and the changes that came with them, in one commit where the answer holds all there is. */
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

  /** A hint that brings all there is needs no round, unless writes wait. Undefined: it did not, or a pull was asked for. */
  private async applyHint(): Promise<ReplicaState | undefined> {
    const brought = this.parts.hints.takePulls();
    const { mustPull } = this;
    this.mustPull = false;
    let state: ReplicaState | undefined;
    if (!mustPull)
      // A later one may follow from a pull since, where an earlier one does not.
      for (const each of brought) state = await this.puller.applyPiggybacked(each);
    return state;
  }
}
