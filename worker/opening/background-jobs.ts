/** Index builds, exports of the query log and removal of expired data: each runs in one tab at a time. */
import { after } from '../../hosts/after.ts';
import { IndexBuilds } from '../../hosts/index-builds.ts';
import { SweepSchedule } from '../../hosts/sweep-schedule.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import type { ProgressMessage } from '../../src/host/api.ts';
import type { Files } from '../files/files.ts';
import { unlessElsewhere, whileHeld } from '../tabs/web-locks.ts';
import type { OpenLogs } from './open-logs.ts';

export interface JobParts {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly engine: Engine;
  readonly emit: (message: ProgressMessage) => void;
  readonly report: (reason: unknown) => void;
  readonly files: Pick<Files, 'sweep'>;
  readonly logs: { readonly exports: Pick<OpenLogs['exports'], 'work'> } & Pick<OpenLogs, 'sweep'>;
}

export interface BackgroundJobs {
  /** After a short delay, continues the work that was unfinished when the database was closed. */
  readonly start: () => void;
  readonly onCommit: (notice: CommitNotice) => void;
  readonly close: () => void;
}

/** The first queries of an app arrive immediately after opening and should not wait for background work. */
const START_AFTER_MS = 500;

export function openJobs(parts: JobParts): BackgroundJobs {
  const { name, locks, engine, files, logs, emit, report } = parts;
  let cancelStart = (): void => undefined;
  const builds = new IndexBuilds({
    build: (databases) =>
      whileHeld(locks, `burrow:build:${name}`, {}, () =>
        engine.buildIndexes({
          databases,
          onProgress: ({ index, done, isComplete }) =>
            emit({ type: 'progress', task: 'index', name: index, done, isComplete }),
        }),
      ),
    report,
    after,
  });
  const sweeps = new SweepSchedule({
    sweep: () =>
      unlessElsewhere(locks, `burrow:garbage:${name}`, async () => {
        await engine.collectExpiredData();
        await files.sweep();
        await logs.sweep();
      }),
    report,
    after,
  });
  return {
    start: () => {
      cancelStart = after(START_AFTER_MS, () => {
        builds.start();
        void logs.exports.work();
      });
    },
    onCommit: (notice) => {
      builds.onCommit(notice);
      sweeps.onCommit(notice);
    },
    close: () => {
      cancelStart();
      builds.close();
      sweeps.close();
    },
  };
}
