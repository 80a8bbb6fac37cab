/** What comes from the hub, and is stored before anybody hears of it: answers to pulls, what hints and verdicts bring along. */
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Brought, Check, Pulled } from '../../protocol/messages.ts';
import type { DocumentName } from '../../protocol/identifiers.ts';
import type { ReplicaSet, ReplicaState } from '../state/api.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import { isAnswerTo } from '../state/api.ts';
import { differencesFrom } from './set-comparison.ts';
import type { SyncerOptions } from './syncer-options.ts';
import type { Telling } from './progress-reporter.ts';
import type { Tenure } from './fence-holder.ts';
import { requireAnswer } from './transport.ts';

/** Documents that one pull asks for by name. */
const REFETCH_MAX = 500;

export class Intake {
  private readonly options: SyncerOptions;
  private readonly tenure: Tenure;
  private readonly telling: Telling;

  constructor(options: SyncerOptions, tenure: Tenure, telling: Telling) {
    this.options = options;
    this.tenure = tenure;
    this.telling = telling;
  }

  /** `refetch`: documents to be sent whether they changed or not. */
  async pull(
    refetch: readonly DocumentName[] = [],
  ): Promise<{ readonly state: ReplicaState; readonly isWhole: boolean }> {
    const before = await this.tenure.state();
    const pulled = requireAnswer(
      await this.options.transport.pull({
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

  /** Undefined: it is for another state than this one, or does not say all there is to know. */
  async takeBrought({ since, pulled }: Brought): Promise<ReplicaState | undefined> {
    const state = await this.tenure.state();
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

  /** Compares all sets, and asks for just what differs. False: another comparison is due. */
  async checkSets(state: ReplicaState): Promise<boolean> {
    const { replica, transport } = this.options;
    const check = async (message: Check) => requireAnswer(await transport.check(message));
    const { names, isAll } = await differencesFrom(check, replica, state);
    let after = state;
    for (let i = 0; i < names.length; i += REFETCH_MAX)
      ({ state: after } = await this.pull(names.slice(i, i + REFETCH_MAX)));
    if (!isAll || after.staged) return false;
    const { suspectSince } = await replica.checked(this.tenure.fence, state.suspectSince);
    return suspectSince === undefined;
  }

  private async apply(pulled: Pulled, asked: readonly ReplicaSet[]): Promise<ReplicaState> {
    const { replica, events } = this.options;
    const { state, bytes, settled } = await replica.apply(this.tenure.fence, pulled, asked);
    this.telling.countBytes(bytes);
    for (const record of settled) events.onVerdict(record);
    return state;
  }
}
