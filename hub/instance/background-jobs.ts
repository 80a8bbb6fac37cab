/** Background jobs of a hub: index builds, and the removal of expired data, old changes, devices and records. */
import { after } from '../../hosts/after.ts';
import { elapsed } from '../../hosts/clock.ts';
import { IndexBuilds } from '../../hosts/index-builds.ts';
import { SweepSchedule } from '../../hosts/sweep-schedule.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import type { Store } from '../../src/store/port.ts';
import type { PruneHost } from '../../src/sync/hub/pruning/prune-batch.ts';
import { pruneChanges } from '../../src/sync/hub/pruning/prune-changes.ts';
import { pruneDeletedDatabases } from '../../src/sync/hub/pruning/prune-deleted-databases.ts';
import { pruneDevices } from '../../src/sync/hub/pruning/prune-devices.ts';
import { DAY_MICROS } from '../../src/values/time.ts';
import { pause } from './hub-engine.ts';
import type { Logs } from './open-logs.ts';

/** Several processes on one store may do the same work: that costs time but does no harm. */
export function startBackgroundJobs(
  engine: Engine,
  {
    store,
    logs,
    clock,
    report,
  }: {
    readonly store: Store;
    readonly logs: Logs;
    readonly clock: () => number;
    readonly report: (reason: unknown) => void;
  },
) {
  const { transactions } = engine;
  const builds = new IndexBuilds({
    build: (databases) => engine.buildIndexes({ databases }),
    report,
    after,
  });
  let pruneAt = 0;
  /**
   * Only once a day, because it reads a row for each device and for each database with changes. Not by the wall clock, which may be
   * set back.
   */
  const pruneDaily = async (host: PruneHost): Promise<void> => {
    if (elapsed() < pruneAt) return;
    const now = host.clock();
    await pruneChanges(host, now - SYNC_LIMITS.changesKeptMicros);
    await pruneDeletedDatabases(host);
    await pruneDevices(host, now - SYNC_LIMITS.devicesKeptMicros);
    pruneAt = elapsed() + DAY_MICROS;
  };
  const sweeps = new SweepSchedule({
    async sweep() {
      await engine.collectExpiredData();
      // Limited to the time of the last commit, as for expired data: a clock that is years ahead must not remove anything or move
      // the head into the future.
      const { value: last } = await transactions.read(({ head }) => ({ value: head }));
      await pruneDaily({ store, transactions, clock: () => Math.min(clock(), last), pause });
      await logs.sweep();
    },
    after,
    report,
  });
  builds.start();
  return {
    onCommit(notice: CommitNotice) {
      builds.onCommit(notice);
      sweeps.onCommit(notice);
    },
    close() {
      builds.close();
      sweeps.close();
    },
  };
}
