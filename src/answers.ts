/** Parts of answers that the engine or its log produces, and that the page passes on unchanged. Each is declared only here. */

/** The cost of a query: the nine metrics that HTTP sends in headers. Spec: auth 4.5. */
export interface QueryMetrics {
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly computeOps: number;
  readonly readOps: number;
  readonly writeOps: number;
  readonly readBytes: number;
  readonly writeBytes: number;
  /** Milliseconds. Programs know the nine by their names in the original, so this one has no unit. */
  readonly queryTime: number;
  readonly retries: number;
}

/**
 * Data that a query on a copy read, but that the copy does not keep or has not loaded yet: documents of a collection, or entries of an
 * index.
 */
export type MissingSet = { readonly collection: string } | { readonly index: string };

/** What the app notes about a write, for its lists of writes. It stays on the device. */
export interface WriteNote {
  readonly label: string | undefined;
  /** JSON text. */
  readonly data: string | undefined;
}

export const LOG_STATES = [
  'Pending',
  'Requested',
  'CreatingNewUrl',
  'Complete',
  'DoesNotExist',
  'Failed',
  'TimedOut',
] as const;
export type LogState = (typeof LOG_STATES)[number];

/** A request for the log of a time range. Spec: seed "Log request record"; auth 6.3. */
export interface LogRequestRecord {
  readonly request_id: string;
  readonly database?: string;
  readonly region_group: string;
  readonly time_start: string;
  readonly time_end: string;
  readonly state: LogState;
  /** URL of the file: gzip, one JSON record per line. Only in the state `Complete`, and until the URL expires. */
  readonly presigned_url?: string;
  readonly presigned_url_expiration_time?: string;
  readonly version: number;
  readonly updated_at: string;
}
