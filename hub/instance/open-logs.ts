/** Opens the query log and its exports. */
import { createHmac } from 'node:crypto';
import type { HttpHost } from '../../src/http/message.ts';
import { LogExports } from '../../src/logs/exports.ts';
import { QueryLog } from '../../src/logs/query-log.ts';
import type { Store } from '../../src/store/port.ts';
import type { HubSettings } from '../settings/settings.ts';
import { pause } from './hub-engine.ts';

const FLUSH_MS = 2000;

export interface Logs {
  readonly log: QueryLog | undefined;
  readonly exports: LogExports;
  /** Removes records and exports that are too old. Also needed when the query log is off, for records of earlier times. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export function openLogs(
  store: Store,
  { queryLog, queryLogDays, queryLogBytes, regionGroup }: HubSettings,
  host: Pick<HttpHost, 'clock' | 'random'> & { readonly report: (reason: unknown) => void },
  urlKey: string,
): Logs {
  const on = { ...host, pause, store };
  const recorded = new QueryLog({ ...on, retentionDays: queryLogDays, maxBytes: queryLogBytes });
  const exports = new LogExports({
    ...on,
    regionGroup,
    // With the query log off, earlier records can still be exported.
    log: recorded,
    sign: (text) => createHmac('sha256', urlKey).update(text).digest('base64url'),
  });
  const flushing = setInterval(() => void recorded.flush(), FLUSH_MS).unref();
  void exports.work();
  return {
    log: queryLog ? recorded : undefined,
    exports,
    async sweep() {
      await recorded.trim();
      await exports.work();
    },
    async close() {
      clearInterval(flushing);
      await exports.close();
      await recorded.flush();
    },
  };
}
