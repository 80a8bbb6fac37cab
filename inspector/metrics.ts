/** Lists the nine metrics of a query. */
import type { QueryMetrics } from '../src/index.ts';
import { facts } from './dom.ts';
import { formatBytes, formatNumber } from './format.ts';

export const metricsList = (metrics: QueryMetrics): HTMLElement =>
  facts([
    ['Time', `${formatNumber(metrics.queryTime)} ms`],
    ['Compute', formatNumber(metrics.computeOps)],
    ['Reads', formatNumber(metrics.readOps)],
    ['Writes', formatNumber(metrics.writeOps)],
    ['Read', formatBytes(metrics.readBytes)],
    ['Written', formatBytes(metrics.writeBytes)],
    ['In', formatBytes(metrics.bytesIn)],
    ['Out', formatBytes(metrics.bytesOut)],
    ['Retries', formatNumber(metrics.retries)],
  ]);
