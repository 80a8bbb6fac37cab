/** Pulls from the hub, and applies pulls that came with hints and verdicts. Data is stored before anything is reported. */
import { SYNC_LIMITS } from '../../../limits.ts';
import type { DocumentName } from '../../protocol/identifiers.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Check, PiggybackedPull, Pull, Pulled } from '../../protocol/messages.ts';
import { isLast, nextPull } from '../../protocol/next-pull.ts';
import type { Applied, RequestState } from '../pulled/apply-pull.ts';
import { isAnswerTo, pulledUntil, type ReplicaState } from '../state/replica-state.ts';
import type { ExchangeSize } from './exchange-size.ts';
import type { FenceHolder } from './fence-holder.ts';
import type { ProgressReporter } from './progress-reporter.ts';
import { compareSets } from './set-comparison.ts';
import type { SyncerOptions } from './syncer-options.ts';
import {
  ForeignAnswer,
  OTHER_ANSWER,
  RefusedByHub,
  requireAnswer,
  type HubAnswer,
} from './transport.ts';

/** The hub has lost commits, but its epoch has not changed. */
const LOST_COMMITS = {
  code: 'epoch_changed',
  description:
    'The hub has lost commits that this copy has. It is offered the latest writes again.',
} as const;

/** Maximum number of documents that one pull requests by name. */
const REFETCH_MAX = 500;

interface PullOutcome extends Pick<Applied, 'state' | 'isIgnored'> {
  /** Nothing is left to pull. */
  readonly isWhole: boolean;
}

interface PullerParts {
  readonly holder: FenceHolder;
  readonly reporter: ProgressReporter;
  readonly size: ExchangeSize;
}

export class Puller {
  private readonly options: SyncerOptions;
  private readonly holder: FenceHolder;
  private readonly reporter: ProgressReporter;
  private readonly size: ExchangeSize;
  /** A pull that was sent in advance. Its answer is used if the next pull has the same message. */
  private ahead:
    | { readonly text: string; readonly answer: Promise<HubAnswer<Pulled>>; readonly at: number }
    | undefined = undefined;

  constructor(options: SyncerOptions, { holder, reporter, size }: PullerParts) {
    this.options = options;
    this.holder = holder;
    this.reporter = reporter;
    this.size = size;
  }

  /** @param refetch documents to be sent whether they changed or not @throws RefusedByHub, ForeignAnswer; errors of the exchange */
  async pull(refetch: readonly DocumentName[] = []): Promise<PullOutcome> {
    const before = await this.holder.state();
    const since = pulledUntil(before);
    const message = messageFrom(before, refetch, this.size.of(SYNC_LIMITS.pullBytes));
    const pulled = await this.size.answerOf(this.answerTo(message));
    if (!isAnswerTo(pulled, before)) throw new ForeignAnswer(OTHER_ANSWER);
    if (hasLost(before, pulled)) {
      this.reporter.setState('offline', LOST_COMMITS);
      await this.options.replica.resubmitAll(this.holder.fence, pulled.epoch);
      throw new RefusedByHub(LOST_COMMITS);
    }
    if (!isLast(pulled)) this.askAhead(nextPull(message, pulled));
    const { state, isIgnored } = await this.apply(pulled, { since, sets: before.sets });
    const isWhole = !isIgnored && !pulled.more && state.sets.every(isLoaded);
    if (!isWhole && !isIgnored && hasNothing(pulled, message)) throw new ForeignAnswer(NO_PROGRESS);
    return { state, isIgnored, isWhole };
  }

  /** When the pull in advance was sent. Its answer does not show later changes. */
  get askedAheadAt(): number | undefined {
    return this.ahead?.at;
  }

  /** Sends the next pull in advance, so that the hub reads the next page while this one is being stored. */
  private askAhead(message: Pull): void {
    const at = this.options.wallClock();
    const answer = this.options.transport.pull(message);
    // If the answer is not used, its failure does not matter.
    answer.catch(() => undefined);
    this.ahead = { text: JSON.stringify(message), answer, at };
  }

  private answerTo(message: Pull): Promise<HubAnswer<Pulled>> {
    const { ahead } = this;
    this.ahead = undefined;
    const isDue = ahead && ahead.text === JSON.stringify(message);
    return isDue ? ahead.answer : this.options.transport.pull(message);
  }

  /** Undefined if the pull was made for another state than the present one, or is not all there is to pull. */
  async applyPiggybacked({ since, pulled }: PiggybackedPull): Promise<ReplicaState | undefined> {
    const state = await this.holder.state();
    const { cursor, epoch, staged, sets, suspectSince } = state;
    const ids = new Set(pulled.sets.map(({ id }) => id));
    const isForThis =
      suspectSince === undefined &&
      isAnswerTo(pulled, state) &&
      since === cursor &&
      pulled.epoch === epoch &&
      !staged &&
      ids.size === sets.length &&
      sets.every((set) => ids.has(set.id) && isLoaded(set));
    if (!isForThis) return undefined;
    const applied = await this.apply(pulled, { since, sets });
    return applied.isIgnored ? undefined : applied.state;
  }

  /** Compares all sets with the hub, and pulls the documents that differ. False if another comparison is due. */
  async repairSets(state: ReplicaState): Promise<boolean> {
    const { replica, transport } = this.options;
    const check = async (message: Check) => requireAnswer(await transport.check(message));
    const { names, isAll } = await compareSets(check, replica, state);
    let after = state;
    for (let i = 0; i < names.length; i += REFETCH_MAX) {
      const pulled = await this.pull(names.slice(i, i + REFETCH_MAX));
      if (pulled.isIgnored) return false;
      after = pulled.state;
    }
    if (!isAll || after.staged) return false;
    const { fence } = this.holder;
    const { suspectSince } = await replica.finishComparison(fence, state.suspectSince);
    return suspectSince === undefined;
  }

  private async apply(pulled: Pulled, asked: RequestState): Promise<Applied> {
    const { replica, events } = this.options;
    const applied = await replica.apply(this.holder.fence, pulled, asked);
    this.reporter.countBytes(applied.bytes);
    for (const record of applied.settled) events.onVerdict(record);
    if (applied.files.length > 0) events.onFiles(applied.files);
    return applied;
  }
}

/** Whether the hub has lost commits: it has fewer writes than the copy, or an earlier head. */
const hasLost = (state: ReplicaState, pulled: Pulled): boolean =>
  pulled.lastSeq < state.settledSeq || pulled.cursor < (state.cursor ?? 0);

const NO_PROGRESS = 'The hub says that there is more to pull, but does not send it.';

/** Whether the next pull would be the same request. */
const hasNothing = (pulled: Pulled, message: Pull): boolean => {
  if (pulled.puts.length + pulled.leaves.length > 0) return false;
  const { cursor, sets, schema } = nextPull(message, pulled);
  const next = JSON.stringify([cursor, sets, schema]);
  return next === JSON.stringify([message.cursor, message.sets, message.schema]);
};

const messageFrom = (
  state: ReplicaState,
  refetch: readonly DocumentName[],
  maxBytes: number,
): Pull => ({
  device: state.device,
  epoch: state.epoch,
  cursor: pulledUntil(state),
  token: state.token,
  schema: state.schema,
  sets: state.sets.map(({ id, query, loaded, parts }) => ({ id, query, loaded, parts })),
  refetch,
  settled: state.settledSeq,
  maxBytes,
});
