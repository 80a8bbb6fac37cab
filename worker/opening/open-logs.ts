import type { Settings } from '../../src/host/settings.ts';
import { LogExports } from '../../src/logs/exports.ts';
import { QueryLog } from '../../src/logs/query-log.ts';
import type { Store } from '../../src/store/port.ts';
import { pause } from '../browser/pause.ts';
import { random } from '../browser/random.ts';
import { unlessElsewhere } from '../tabs/web-locks.ts';
import { REGION_GROUP } from './open-engine.ts';

export interface LogParts {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly store: Store;
  readonly settings: Settings;
  readonly clock: () => number;
  readonly report: (reason: unknown) => void;
}

export interface OpenLogs {
  /** Undefined when queries are not logged. */
  readonly log: QueryLog | undefined;
  readonly exports: LogExports;
  /** Removes expired log entries, including those from a time when logging was on. */
  readonly sweep: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export function openLogs({ name, locks, store, settings, clock, report }: LogParts): OpenLogs {
  const { enabled, retentionDays, maxBytes } = settings.log;
  const common = { store, clock, report, random, pause, regionGroup: REGION_GROUP };
  const recorded = new QueryLog({ ...common, retentionDays, maxBytes });
  const log = enabled ? recorded : undefined;
  const exports = new LogExports({
    ...common,
    // Earlier log entries can be exported even while logging is off.
    log: recorded,
    exclusively: (body) => unlessElsewhere(locks, `burrow:exports:${name}`, body),
  });
  const sweep = async (): Promise<void> => {
    await recorded.trim();
    await exports.work();
  };
  const close = async (): Promise<void> => {
    await exports.close();
    await recorded.flush();
  };
  return { log, exports, sweep, close };
}
