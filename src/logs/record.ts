/** A query as a record of the log and as a line of an export. The record is redacted here, before it is stored. */
import type { QueryMetrics } from '../answers.ts';
import type { CredentialLabel, ReadSet } from '../engine/host.ts';
import type { Step } from '../errors.ts';
import type { Micros } from '../values/value.ts';
import { hideSecretTexts } from '../engine/access.ts';
import { redactQuery } from './redact.ts';

/** A request before it is redacted. Header values are as the caller sent them. */
export interface LoggedRequest {
  /** Time of arrival, µs. */
  readonly ts: Micros;
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly query: string;
  readonly apiVersion: string;
  readonly userAgent?: string | undefined;
  readonly forwardedFor?: string | undefined;
  readonly tags?: ReadonlyMap<string, string> | undefined;
  readonly traceparent?: string | undefined;
}

export interface LoggedAnswer {
  readonly status: number;
  readonly database: readonly string[];
  readonly metrics: QueryMetrics;
  readonly credential?: CredentialLabel | undefined;
  /** Code of the first error. */
  readonly errorCode?: string | undefined;
  /** Position of the first error in the query. For the inspector; not stored. */
  readonly errorPosition?: readonly Step[] | undefined;
  /** What the query read. For the inspector; not stored. */
  readonly readSet?: ReadSet | undefined;
  /** Number of index entries and documents that its sets went through. For the inspector; not stored. */
  readonly scanned?: number | undefined;
}

/**
 * A line of an export: the members of the hosted service's records, followed by Burrow's own members.
 * Spec: auth 6.2.
 */
export interface ExportedRecord {
  readonly API_VERSION: string;
  readonly BYTES_IN: number;
  readonly BYTES_OUT: number;
  readonly BYTE_READ_OPS: number;
  readonly BYTE_WRITE_OPS: number;
  readonly COMPUTE_OPS: number;
  readonly DATABASE: readonly string[];
  readonly QUERY_TIME_MS: number;
  readonly REGION_GROUP: string;
  /** JSON of `user_agent` and `x_forwarded_for`. */
  readonly REQUEST_HEADERS: string;
  readonly REQUEST_METHOD: string;
  readonly RESPONSE_CODE: string;
  readonly TAGS: Readonly<Record<string, string>>;
  readonly TRACEPARENT?: string;
  /** `YYYY-MM-DD HH:MM:SS.mmm Z` */
  readonly TS: string;
  readonly TXN_RETRIES: number;

  readonly REQUEST_ID: string;
  readonly REQUEST_PATH: string;
  /** Absent if no secret was accepted. */
  readonly CREDENTIAL?: CredentialLabel;
  readonly ERROR_CODE?: string;
  /** Wire JSON without passwords and secrets. Absent if the text was not JSON or too long, or if no secret was accepted. */
  readonly QUERY?: string;
  readonly STORAGE_BYTES_READ: number;
  readonly STORAGE_BYTES_WRITE: number;
}

/** A stored record: a JSON array, because member names on every line would be most of the log. New elements go to the end. */
type StoredRecord = readonly [
  ts: Micros,
  database: readonly string[],
  requestId: string,
  apiVersion: string,
  method: string,
  path: string,
  status: number,
  errorCode: string | null,
  credential: readonly [kind: CredentialLabel['kind'], id: string] | null,
  query: string | null,
  userAgent: string | null,
  forwardedFor: string | null,
  tags: Readonly<Record<string, string>> | null,
  traceparent: string | null,
  metrics: readonly [
    bytesIn: number,
    bytesOut: number,
    computeOps: number,
    readOps: number,
    writeOps: number,
    readBytes: number,
    writeBytes: number,
    queryTimeMs: number,
    retries: number,
  ],
];

/** Maximum number of characters that are stored of a path, and of a header. */
const KEPT_CHARACTERS = 256;

/** The line of text that is stored, without its line end. */
export function storedLine(
  request: LoggedRequest,
  answer: LoggedAnswer,
  requestId: string,
): string {
  const { metrics, credential, errorCode, status } = answer;
  const record: StoredRecord = [
    request.ts,
    answer.database,
    requestId,
    request.apiVersion,
    request.method,
    request.path === '/' ? '/' : kept(request.path),
    status,
    errorCode ?? null,
    credential ? [credential.kind, credential.id] : null,
    queryKept(request, answer) ?? null,
    keptHeader(request.userAgent),
    keptHeader(request.forwardedFor),
    tagsOf(request),
    request.traceparent ?? null,
    [
      metrics.bytesIn,
      metrics.bytesOut,
      metrics.computeOps,
      metrics.readOps,
      metrics.writeOps,
      metrics.readBytes,
      metrics.writeBytes,
      metrics.queryTime,
      metrics.retries,
    ],
  ];
  return JSON.stringify(record);
}

/** The query as it is stored. Undefined without an accepted secret: its text may be anything, and belongs to no user. */
export function queryKept(
  { query }: LoggedRequest,
  { status, errorCode, credential }: LoggedAnswer,
): string | undefined {
  if (!credential) return undefined;
  // After `invalid expression` the text may not be JSON. Text that is not JSON is not stored either.
  return redactQuery(query, status < 400 || errorCode !== 'invalid expression');
}

/** If the text was cut, this many characters at the cut are removed, too: the beginning of a secret is not recognised as a secret. */
const BEGUN_SECRET = 32;

/** Hides secrets and truncates the text. Secrets are searched only in the first part, because a pattern may take long on a long text. */
function kept(text: string): string {
  const start = text.slice(0, 2 * KEPT_CHARACTERS);
  const shown = hideSecretTexts(start);
  const end = start === text ? KEPT_CHARACTERS : shown.length - BEGUN_SECRET;
  return shown.slice(0, Math.min(end, KEPT_CHARACTERS));
}

const keptHeader = (text: string | undefined): string | null =>
  text === undefined ? null : kept(text);

function tagsOf({ tags }: LoggedRequest): Readonly<Record<string, string>> | null {
  if (!tags || tags.size === 0) return null;
  return Object.fromEntries([...tags].map((tag) => tag.map(hideSecretTexts)));
}

export interface FoundRecord {
  readonly ts: Micros;
  readonly database: readonly string[];
  /** The line of an export, without its line end. */
  exportedLine(regionGroup: string): string;
}

/** @param line a line that `storedLine()` made */
export function readStoredLine(line: string): FoundRecord {
  const record = JSON.parse(line) as StoredRecord;
  const [ts, database] = record;
  return { ts, database, exportedLine: (group) => JSON.stringify(exported(record, group)) };
}

function exported(record: StoredRecord, regionGroup: string): ExportedRecord {
  const [ts, database, requestId, apiVersion, method, path, status, errorCode, ...more] = record;
  const [credential, query, userAgent, forwardedFor, tags, traceparent, metrics] = more;
  const [bytesIn, bytesOut, computeOps, readOps, writeOps, readBytes, ...rest] = metrics;
  const [writeBytes, queryTimeMs, retries] = rest;
  return {
    API_VERSION: apiVersion,
    BYTES_IN: bytesIn,
    BYTES_OUT: bytesOut,
    BYTE_READ_OPS: readOps,
    BYTE_WRITE_OPS: writeOps,
    COMPUTE_OPS: computeOps,
    DATABASE: database,
    QUERY_TIME_MS: queryTimeMs,
    REGION_GROUP: regionGroup,
    REQUEST_HEADERS: headersText(userAgent, forwardedFor),
    REQUEST_METHOD: method,
    RESPONSE_CODE: String(status),
    TAGS: tags ?? {},
    ...(traceparent !== null && { TRACEPARENT: traceparent }),
    TS: timeText(ts),
    TXN_RETRIES: retries,
    REQUEST_ID: requestId,
    REQUEST_PATH: path,
    ...(credential && { CREDENTIAL: { kind: credential[0], id: credential[1] } }),
    ...(errorCode !== null && { ERROR_CODE: errorCode }),
    ...(query !== null && { QUERY: query }),
    STORAGE_BYTES_READ: readBytes,
    STORAGE_BYTES_WRITE: writeBytes,
  };
}

const headersText = (userAgent: string | null, forwardedFor: string | null): string =>
  JSON.stringify({
    ...(userAgent !== null && { user_agent: userAgent }),
    ...(forwardedFor !== null && { x_forwarded_for: forwardedFor }),
  });

const timeText = (ts: Micros): string =>
  new Date(ts / 1000).toISOString().replace('T', ' ').replace('Z', ' Z');
