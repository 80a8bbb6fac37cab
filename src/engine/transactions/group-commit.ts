/** Commits one group: optimistically over the cache; if validation fails, pessimistically inside the transaction. See README.md. */
import { assert } from '../../errors.ts';
import { RowMap } from '../../store/row-map.ts';
import { changesOf } from '../../store/snapshot-cache.ts';
import { HOT_SPACES, KeyTaken } from '../../store/port.ts';
import type { RowAddress, Store, WriteOptions, WriteSet, WriteTx } from '../../store/port.ts';
import { planOf } from '../../store/snapshot-reader.ts';
import type { Micros } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';
import { changeRows } from './change-log.ts';
import { noticeOf, type CommitNotices } from './commit-notices.ts';
import type { DetachedOption } from './detached.ts';
import { executeGroup, type CommitGroup, type GroupTime, type Job } from './execution.ts';
import { HEAD, headRow } from './head.ts';
import type { Commit, HeadTracker } from './head-tracker.ts';
import {
  contended,
  isNothing,
  isSettled,
  needsOf,
  newRows,
  ValidationFailed,
} from './validation.ts';

export type CommitOptions = Pick<
  EngineOptions,
  'store' | 'clock' | 'durability' | 'random' | 'logsChanges' | 'groupMicros' | 'sliceMicros'
> &
  Partial<Pick<EngineOptions, 'pause'>> &
  DetachedOption;

export interface Committed extends Pick<CommitGroup, 'members' | 'rest'> {
  /** How often another commit intervened, or an assumption was false. */
  readonly retries: number;
}

/** A group whose writes have been passed to a transaction, or that wrote nothing. */
interface Applied {
  readonly group: CommitGroup;
  readonly commit: Commit | undefined;
}

/** How long a group is evaluated at most. The event loop is blocked while it is, except for pauses. */
const GROUP_MICROS = 10_000;

const NONE: Pick<RowMap<true>, 'has'> = new RowMap();

export class GroupCommitter {
  private readonly store: Store;
  private readonly heads: HeadTracker;
  private readonly notices: CommitNotices;
  private readonly writeOptions: WriteOptions;
  private readonly clock: () => Micros;
  private readonly groupMicros: Micros;
  private readonly sliceMicros: Micros | undefined;
  private readonly pause: CommitOptions['pause'];
  private readonly logsChanges: boolean;
  private readonly detached: DetachedOption['detached'];
  /** Distinguishes commits of this engine from commits of others at the same time. */
  private readonly signature: string;
  private commits = 0;

  constructor(options: CommitOptions, heads: HeadTracker, notices: CommitNotices) {
    const { store, clock, durability, random, logsChanges = false, detached } = options;
    this.store = store;
    this.heads = heads;
    this.notices = notices;
    this.writeOptions = { spaces: HOT_SPACES, durability };
    this.clock = clock;
    this.groupMicros = options.groupMicros ?? GROUP_MICROS;
    this.sliceMicros = options.sliceMicros;
    this.pause = options.pause;
    this.logsChanges = logsChanges;
    this.detached = detached;
    this.signature = random(6).join('.');
  }

  /**
   * @param jobs the array grows by the jobs that `join` adds
   * @param join called at a point where more jobs can still share the commit
   */
  async commit(jobs: readonly Job[], join: () => void = () => undefined): Promise<Committed> {
    const { heads } = this;
    const known = heads.cached();
    const optimistic = this.detached
      ? await this.detached.group(this.store, heads, jobs, () => this.beginGroup())
      : known && (await executeGroup(jobs, known.reader, known.head, this.beginSlices()));
    if (optimistic && isSettled(optimistic) && !optimistic.writes && heads.isCurrent())
      return this.finish({ group: optimistic, commit: undefined }, 0);
    // Without the lease, the head has often moved, so it is better to read it before writing.
    const isOptimistic = optimistic?.needs.length === 0 && optimistic.writes && heads.isCurrent();
    const applied = await this.transact((tx) =>
      isOptimistic
        ? this.commitOptimistically(tx, optimistic)
        : this.executeIn(tx, jobs, { optimistic, join }),
    );
    if (applied) return this.finish(applied, 0);
    // A wrong assumption does not count against `retriesMax` if no other commit intervened.
    const isOvertaken = heads.cachedHead !== known?.head;
    const patient = jobs.filter((job) => !isOvertaken || job.retriesMax !== 0);
    for (const job of jobs) if (!patient.includes(job)) job.fail(contended());
    if (patient.length === 0) return { members: [], rest: [], retries: 1 };
    // The transaction holds the write lock and nothing is assumed, so validation cannot fail again.
    const pessimistic = await this.transact((tx) => this.executeIn(tx, patient));
    assert(pessimistic, () => 'validation failed for a write that assumed nothing');
    return this.finish(pessimistic, 1);
  }

  private beginGroup(): GroupTime {
    const until = this.clock() + this.groupMicros;
    return { isOver: () => this.clock() > until };
  }

  /** The time in pauses is not counted. */
  private beginSlices(): GroupTime {
    const { clock, groupMicros, sliceMicros, pause } = this;
    if (sliceMicros === undefined) return this.beginGroup();
    let before = 0;
    let begun = clock();
    const ofSlice = (): Micros => clock() - begun;
    const pauseNow = async (): Promise<void> => {
      before += ofSlice();
      await pause?.();
      begun = clock();
    };
    return {
      isOver: () => before + ofSlice() > groupMicros,
      pause: () => (ofSlice() > sliceMicros ? pauseNow() : undefined),
    };
  }

  /** Returns undefined when validation failed. */
  private async transact(body: (tx: WriteTx) => Promise<Applied>): Promise<Applied | undefined> {
    let hasFailedValidation = false;
    const watched = async (tx: WriteTx): Promise<Applied> => {
      try {
        return await body(tx);
      } catch (reason) {
        hasFailedValidation = reason instanceof ValidationFailed;
        throw reason;
      }
    };
    try {
      return await this.store.write(watched, this.writeOptions);
    } catch (reason) {
      this.heads.abandon();
      if (hasFailedValidation || reason instanceof KeyTaken) return undefined;
      // Whether the commit succeeded is unknown, and so is the content of the store, even for a tab that holds the lease.
      this.heads.forget();
      throw reason;
    }
  }

  /** Writes the result of an execution that preceded the transaction, and validates it at the same time. */
  private async commitOptimistically(tx: WriteTx, group: CommitGroup): Promise<Applied> {
    const added = newRows(group);
    const assumedAbsent = group.assumedAbsent.filter(
      (need) => need.kind === 'range' || !added.has(need.address),
    );
    // A thread for long queries may have committed since the group was executed.
    const isCurrent = this.heads.isLeasePermanent() && this.heads.cachedHead === group.head;
    if (assumedAbsent.length === 0 && isCurrent) return this.apply(tx, group, added);
    const plan = planOf(assumedAbsent);
    const term = this.heads.term();
    const fetching = tx.fetch([...plan.rows, HEAD], plan.ranges);
    const applied = this.apply(tx, group, added);
    const found = await fetching;
    const head = this.heads.moveTo(found.rows.at(-1), term);
    if (head === group.head && isNothing(plan, found)) return applied;
    if (head === group.head) group.snapshot.keep(plan, found);
    throw new ValidationFailed();
  }

  private async executeIn(
    tx: WriteTx,
    jobs: readonly Job[],
    { optimistic, join }: { optimistic?: CommitGroup | undefined; join?: () => void } = {},
  ): Promise<Applied> {
    const { head, reader } = await this.heads.enter(tx, optimistic ? needsOf(optimistic) : []);
    if (
      optimistic &&
      head === optimistic.head &&
      optimistic.needs.length === 0 &&
      reader.isAbsent(optimistic.assumedAbsent)
    )
      return this.apply(tx, optimistic);
    // This transaction may have waited for another process, and must execute the jobs anyway, so jobs that arrived since can join.
    join?.();
    for (;;) {
      const group = await executeGroup(jobs, reader, head, this.beginGroup());
      const { needs, assumedAbsent, members } = group;
      const lacking = [...needs, ...assumedAbsent];
      const readSets = members.map(({ outcome }) => outcome.readSet);
      if (lacking.length > 0) await reader.fetch(tx, lacking, readSets);
      if (needs.length === 0 && reader.isAbsent(assumedAbsent)) return this.apply(tx, group);
    }
  }

  /** @param added rows assumed absent: the store rejects the commit if one of them exists */
  private apply(tx: WriteTx, group: CommitGroup, added = NONE): Applied {
    const { writes, ts } = group;
    if (!writes) return { group, commit: undefined };
    const before = (address: RowAddress) =>
      added.has(address) ? null : group.snapshot.peek(address);
    const changes = changesOf(writes, before, group.head, ts);
    const head = headRow(changes, `${this.signature}/${++this.commits}`, this.heads.tailBefore());
    const puts = writes.puts.map(({ space, row }): WriteSet['puts'][number] => ({
      space,
      row,
      isNew: added.has({ space, key: row.key }),
    }));
    const logged = this.logsChanges ? changeRows(writes, before, ts) : undefined;
    if (logged) puts.push(...logged);
    puts.push({ space: HEAD.space, row: head });
    tx.apply({ puts, deletes: writes.deletes });
    const commit = { changes, head, logged: logged?.map(({ row }) => row) };
    this.heads.begin(commit);
    return { group, commit };
  }

  /** Called when the commit is durable, or when the group wrote nothing. */
  private finish({ group, commit }: Applied, retries: number): Committed {
    const { members, rest } = group;
    if (commit) {
      this.heads.confirm(commit);
      this.notices.send(noticeOf(commit, members));
    }
    return { members, rest, retries };
  }
}
