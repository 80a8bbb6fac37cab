/** Response headers with the metrics of a query. Spec: auth 4.3, 4.5. */
import type { Metrics } from '../engine/host.ts';
import type { Micros } from '../values/value.ts';
import type { Headers, HttpResponse } from './message.ts';

export const txnHeader = (txnTime: Micros): Headers => ({ 'x-txn-time': String(txnTime) });

/** Wherever a refusal was made that passes, its caller is told when to retry. */
export const retryHeader = ({ status }: Pick<HttpResponse, 'status'>): Headers =>
  status === 429 || status === 503 ? { 'retry-after': '1' } : {};

/** Printable ASCII, whatever names are in it. */
export const noticeHeader = (notices: readonly string[]): Headers => ({
  'x-burrow-notice': notices.join(' ').replaceAll(/[^ -~]/g, '?'),
});

/** A new object each time: callers add to it. */
export const metricHeaders = (metrics: Metrics): Record<string, string> => ({
  'x-compute-ops': String(metrics.computeOps),
  'x-byte-read-ops': String(metrics.readOps),
  'x-byte-write-ops': String(metrics.writeOps),
  'x-query-time': String(Math.round(metrics.queryTimeMs)),
  'x-query-bytes-in': String(metrics.bytesIn),
  'x-query-bytes-out': String(metrics.bytesOut),
  // The same under the names that older programs read.
  'x-read-ops': String(metrics.readOps),
  'x-write-ops': String(metrics.writeOps),
  'x-storage-bytes-read': String(metrics.readBytes),
  'x-storage-bytes-write': String(metrics.writeBytes),
  'x-txn-retries': String(metrics.retries),
});
