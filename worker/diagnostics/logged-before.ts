/** The most recent queries in the query log: those that ran before the inspector was opened. */
import { INSPECTOR_TAG } from '../../src/host/diagnostics.ts';
import { readLog } from '../../src/logs/query-log.ts';
import type { ExportedRecord } from '../../src/logs/record.ts';
import type { Store } from '../../src/store/port.ts';
import type { Micros } from '../../src/values/value.ts';
import { actorOf, type WatchedQuery } from './query-watch.ts';

const BEFORE_MICROS = 600 * 1_000_000;
const BEFORE_MAX = 200;

/** @param now the latest time to read; records of the ten minutes before it are returned, at most the newest `BEFORE_MAX` */
export async function loggedBefore(
  store: Store,
  now: Micros,
): Promise<readonly Omit<WatchedQuery, 'number'>[]> {
  let found: Omit<WatchedQuery, 'number'>[] = [];
  for await (const records of readLog(store, {
    start: now - BEFORE_MICROS,
    end: now,
    database: [],
  })) {
    const these = records.map((each) => ({
      ts: each.ts,
      line: JSON.parse(each.exportedLine('')) as ExportedRecord,
    }));
    const others = these.filter(({ line }) => line.TAGS[INSPECTOR_TAG] === undefined);
    found = [...found, ...others.map(({ ts, line }) => watchedOf(ts, line))].slice(-BEFORE_MAX);
  }
  return found;
}

const watchedOf = (ts: Micros, line: ExportedRecord): Omit<WatchedQuery, 'number'> => ({
  tsMicros: ts,
  query: line.QUERY,
  status: Number(line.RESPONSE_CODE),
  errorCode: line.ERROR_CODE,
  errorPosition: undefined,
  actor: line.CREDENTIAL && actorOf(line.CREDENTIAL),
  metrics: {
    bytesIn: line.BYTES_IN,
    bytesOut: line.BYTES_OUT,
    computeOps: line.COMPUTE_OPS,
    readOps: line.BYTE_READ_OPS,
    writeOps: line.BYTE_WRITE_OPS,
    readBytes: line.STORAGE_BYTES_READ,
    writeBytes: line.STORAGE_BYTES_WRITE,
    queryTime: line.QUERY_TIME_MS,
    retries: line.TXN_RETRIES,
  },
  reads: undefined,
});
