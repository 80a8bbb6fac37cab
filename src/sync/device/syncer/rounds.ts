/** One round after the other: what the outbox holds goes out, what changed comes in, and what is in doubt is compared. */
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import type { Pushed } from '../../protocol/messages.ts';
import type { ReplicaState } from '../state/api.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Hints } from './hint-listener.ts';
import { Intake } from './puller.ts';
import type { SyncerOptions } from './syncer-options.ts';
import type { Telling } from './progress-reporter.ts';
import type { Tenure } from './fence-holder.ts';
import { requireAnswer } from './transport.ts';

const PUSHES_PER_PULL = 4;

export interface Pushes {
  /** The outbox is empty. */
  readonly isPushed: boolean;
  /** The last answer held what there was to pull. */
  readonly brought: ReplicaState | undefined;
}

interface RoundParts {
  readonly tenure: Tenure;
  readonly telling: Telling;
  readonly hints: Hints;
  /** The hub's time of a verdict that has just come. */
  readonly onVerdictTime: (ts: Micros) => void;
}

export class Rounds {
  private readonly options: SyncerOptions;
  private readonly parts: RoundParts;
  private readonly intake: Intake;
  private mustAsk = true;

  constructor(options: SyncerOptions, parts: RoundParts) {
    this.options = options;
    this.parts = parts;
    this.intake = new Intake(options, parts.tenure, parts.telling);
  }

  /** Somebody wants to know what the hub has now: in the next round a hint will not do. */
  askNext(): void {
    this.mustAsk = true;
  }

  /** True when nothing is left to do. */
  async round(): Promise<boolean> {
    const { events, wallClock } = this.options;
    const { telling } = this.parts;
    const since = wallClock();
    const taken = await this.takeHint();
    if (taken) {
      await telling.tellProgress(taken);
      return true;
    }
    const { isPushed, brought } = await this.push();
    const { state, isWhole } = brought
      ? { state: brought, isWhole: true }
      : await this.intake.pull();
    await telling.tellProgress(state);
    const isSure =
      state.suspectSince === undefined || (isWhole && (await this.intake.checkSets(state)));
    const loaded = state.sets.filter(isLoaded).map(({ id }) => id);
    if (!state.staged && isSure) events.onRound(since, loaded, isWhole);
    return isPushed && isWhole && isSure;
  }

  async push(): Promise<Pushes> {
    const { replica, transport } = this.options;
    const { tenure, telling } = this.parts;
    let brought: ReplicaState | undefined;
    for (let i = 0; i < PUSHES_PER_PULL; i++) {
      const items = await replica.outgoing({
        count: SYNC_LIMITS.pushItems,
        bytes: SYNC_LIMITS.pushChars,
      });
      if (items.length === 0) return { isPushed: true, brought };
      const state = await tenure.state();
      const { device, epoch = '', settledSeq } = state;
      const asked = transport.push({ device, epoch, items, settled: settledSeq });
      // While the hub is at it: that they wait is known here.
      const [answer] = await Promise.all([asked, telling.tellProgress(state)]);
      const pushed = requireAnswer(answer);
      brought = await this.takeOver(pushed);
      if (pushed.verdicts.length === 0) return { isPushed: false, brought };
    }
    return { isPushed: false, brought };
  }

  /** Verdicts, and what changed with them, in one commit where the answer holds all of it. */
  private async takeOver({ verdicts, brought }: Pushed): Promise<ReplicaState | undefined> {
    const { replica, events } = this.options;
    const { tenure, onVerdictTime } = this.parts;
    const last = verdicts.at(-1);
    const isAll = last !== undefined && last.seq === brought?.pulled.verdicts.at(-1)?.seq;
    const state = isAll ? await this.intake.takeBrought(brought) : undefined;
    if (!state)
      for (const record of await replica.settle(tenure.fence, verdicts)) events.onVerdict(record);
    if (last?.ts !== undefined) onVerdictTime(last.ts);
    return state;
  }

  /** A hint that says all there is to know needs no round. Undefined: it did not, or somebody asks. */
  private async takeHint(): Promise<ReplicaState | undefined> {
    const brought = this.parts.hints.take();
    const { mustAsk } = this;
    this.mustAsk = false;
    return brought && !mustAsk ? this.intake.takeBrought(brought) : undefined;
  }
}
