/** The names of the nine metrics of a query, sorted. Programs know them from the original. */
export const METRIC_NAMES = [
  'bytesIn',
  'bytesOut',
  'computeOps',
  'queryTime',
  'readBytes',
  'readOps',
  'retries',
  'writeBytes',
  'writeOps',
];
