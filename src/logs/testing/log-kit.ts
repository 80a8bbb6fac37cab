/** Logs and exports over a memory store, with a clock that tests can set. */
import { createMemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import type { Micros } from '../../values/value.ts';
import { LogExports, type ExportsOptions, type Viewer } from '../exports.ts';
import { LOG_DEFAULTS, QueryLog, type QueryLogOptions } from '../query-log.ts';
import type { LoggedAnswer, LoggedRequest } from '../record.ts';

export const DAY = 86_400 * 1_000_000;
/** 2024-05-01T12:00:00Z */
export const NOON: Micros = Date.UTC(2024, 4, 1, 12) * 1000;

export interface LogKit {
  readonly store: Store;
  readonly clock: { now: Micros };
  readonly log: QueryLog;
  readonly exports: LogExports;
}

export function openLogKit(
  options: Partial<QueryLogOptions & ExportsOptions> = {},
  store: Store = createMemoryStore(),
): LogKit {
  const clock = { now: NOON };
  let dice = 0;
  const shared = {
    store,
    clock: () => clock.now,
    random: (bytes: number) =>
      Uint8Array.from({ length: bytes }, () => (dice = (dice * 7 + 13) % 251)),
    pause: () => Promise.resolve(),
    regionGroup: 'local',
    ...options,
  };
  const log = new QueryLog({ ...LOG_DEFAULTS, ...shared });
  return { store, clock, log, exports: new LogExports({ log, ...shared }) };
}

export const requestAt = (ts: Micros, more: Partial<LoggedRequest> = {}): LoggedRequest => ({
  ts,
  method: 'POST',
  path: '/',
  query: '{"add":[1,2]}',
  apiVersion: '4',
  ...more,
});

export const ANSWER: LoggedAnswer = {
  status: 200,
  database: [],
  metrics: {
    bytesIn: 13,
    bytesOut: 14,
    computeOps: 1,
    readOps: 2,
    writeOps: 3,
    readBytes: 4,
    writeBytes: 5,
    queryTime: 6,
    retries: 7,
  },
  credential: { kind: 'key', id: '42' },
};

export const ROOT_VIEWER: Viewer = {
  database: [],
  since: 0,
  makeUrl: ({ requestId, version }) => `burrow-file:${requestId}/${version}`,
};

export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
