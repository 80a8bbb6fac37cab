/** Response headers with the metrics of a query. Spec: auth 4.3, 4.5. */
import type { QueryMetrics } from '../answers.ts';
import type { Micros } from '../values/value.ts';
import type { Headers, HttpResponse } from './message.ts';

export const txnHeader = (txnTime: Micros): Headers => ({ 'x-txn-time': String(txnTime) });

/** Tells the caller when to retry if the refusal is temporary (429, 503), wherever in the code it was made. */
export const retryHeader = ({ status }: Pick<HttpResponse, 'status'>): Headers =>
  status === 429 || status === 503 ? { 'retry-after': '1' } : {};

/** Header values must be printable ASCII: other characters, for example in names, become `?`. */
export const noticeHeader = (notices: readonly string[]): Headers => ({
  'x-burrow-notice': notices.join(' ').replaceAll(/[^ -~]/g, '?'),
});

/** A new object for each call, because callers add headers to it. */
export const metricHeaders = (metrics: QueryMetrics): Record<string, string> => ({
  'x-compute-ops': String(metrics.computeOps),
  'x-byte-read-ops': String(metrics.readOps),
  'x-byte-write-ops': String(metrics.writeOps),
  'x-query-time': String(Math.round(metrics.queryTime)),
  'x-query-bytes-in': String(metrics.bytesIn),
  'x-query-bytes-out': String(metrics.bytesOut),
  // The same metrics under the names that older programs read.
  'x-read-ops': String(metrics.readOps),
  'x-write-ops': String(metrics.writeOps),
  'x-storage-bytes-read': String(metrics.readBytes),
  'x-storage-bytes-write': String(metrics.writeBytes),
  'x-txn-retries': String(metrics.retries),
});

/** The metrics in the headers of a response. A header that is missing counts as zero. */
export function metricsIn(headers: { get(name: string): string | null }): QueryMetrics {
  const number = (name: string): number => Number(headers.get(name));
  return {
    bytesIn: number('x-query-bytes-in'),
    bytesOut: number('x-query-bytes-out'),
    computeOps: number('x-compute-ops'),
    readOps: number('x-byte-read-ops'),
    writeOps: number('x-byte-write-ops'),
    readBytes: number('x-storage-bytes-read'),
    writeBytes: number('x-storage-bytes-write'),
    queryTime: number('x-query-time'),
    retries: number('x-txn-retries'),
  };
}
