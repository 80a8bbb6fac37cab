/** One query as the log keeps it, and as an export shows it. Redacted here, before anything is stored. */
import { quote } from '../codec/json.ts';
import type { CredentialLabel, Metrics } from '../engine/api.ts';
import type { Micros } from '../values/value.ts';
import { hideSecretTexts, redactQuery } from './redact.ts';

/** What came, before it is redacted. Header values as they were sent. */
export interface LoggedRequest {
  /** Arrival, µs. */
  readonly ts: Micros;
  readonly method: string;
  /** Without query string. */
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
  readonly metrics: Metrics;
  readonly credential?: CredentialLabel | undefined;
  /** Code of the first error. */
  readonly errorCode?: string | undefined;
}

/**
 * A line of an export. The members of the hosted service's records, and after them Burrow's own.
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
  /** Absent when none was accepted. */
  readonly CREDENTIAL?: CredentialLabel;
  readonly ERROR_CODE?: string;
  /** Wire JSON without passwords and secrets. Absent: it was no JSON, or too long to keep. */
  readonly QUERY?: string;
  readonly STORAGE_BYTES_READ: number;
  readonly STORAGE_BYTES_WRITE: number;
}

const HEADER_KEPT_CHARACTERS = 256;
const PATH_KEPT_CHARACTERS = 256;

const kept = (text: string, characters: number): string =>
  hideSecretTexts(text.slice(0, characters));

/** The record as one line of JSON, without its line end. */
export function recordLine(
  request: LoggedRequest,
  answer: LoggedAnswer,
  identity: { readonly requestId: string; readonly regionGroup: string },
): string {
  const { metrics, credential, errorCode, status } = answer;
  // What the engine could not read as a query may be anything.
  const query = redactQuery(request.query, status < 400 || errorCode !== 'invalid expression');
  const record: ExportedRecord = {
    API_VERSION: request.apiVersion,
    BYTES_IN: metrics.bytesIn,
    BYTES_OUT: metrics.bytesOut,
    BYTE_READ_OPS: metrics.readOps,
    BYTE_WRITE_OPS: metrics.writeOps,
    COMPUTE_OPS: metrics.computeOps,
    DATABASE: answer.database,
    QUERY_TIME_MS: metrics.queryTime,
    REGION_GROUP: identity.regionGroup,
    REQUEST_HEADERS: requestHeaders(request),
    REQUEST_METHOD: request.method,
    RESPONSE_CODE: String(status),
    TAGS: tagsOf(request),
    ...(request.traceparent !== undefined && { TRACEPARENT: request.traceparent }),
    TS: timeText(request.ts),
    TXN_RETRIES: metrics.retries,
    REQUEST_ID: identity.requestId,
    REQUEST_PATH: kept(request.path, PATH_KEPT_CHARACTERS),
    ...(credential && { CREDENTIAL: { kind: credential.kind, id: credential.id } }),
    ...(errorCode !== undefined && { ERROR_CODE: errorCode }),
    ...(query !== undefined && { QUERY: query }),
    STORAGE_BYTES_READ: metrics.readBytes,
    STORAGE_BYTES_WRITE: metrics.writeBytes,
  };
  return JSON.stringify(record);
}

function requestHeaders({ userAgent, forwardedFor }: LoggedRequest): string {
  const members: string[] = [];
  if (userAgent !== undefined)
    members.push(`"user_agent":${quote(kept(userAgent, HEADER_KEPT_CHARACTERS))}`);
  if (forwardedFor !== undefined)
    members.push(`"x_forwarded_for":${quote(kept(forwardedFor, HEADER_KEPT_CHARACTERS))}`);
  return `{${members.join(',')}}`;
}

function tagsOf({ tags }: LoggedRequest): Record<string, string> {
  if (!tags || tags.size === 0) return {};
  return Object.fromEntries([...tags].map(([name, value]) => [name, hideSecretTexts(value)]));
}

const timeText = (ts: Micros): string =>
  new Date(ts / 1000).toISOString().replace('T', ' ').replace('Z', ' Z');
