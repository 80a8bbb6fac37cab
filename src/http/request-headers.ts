/** Reads and validates the options in the headers of a request. Spec: auth 4.2. */
import { LIMITS } from '../limits.ts';
import { API_VERSIONS, type ApiVersion } from '../query/session.ts';
import type { Micros } from '../values/value.ts';
import type { HttpRequest } from './message.ts';

export interface RequestOptions {
  readonly apiVersion: ApiVersion;
  readonly lastSeenTxn: Micros | undefined;
  readonly timeoutMs: number | undefined;
  readonly retriesMax: number | undefined;
  readonly tags: ReadonlyMap<string, string>;
  readonly isFormatted: boolean;
  readonly isTraced: boolean;
}

/** An invalid header. The response is 400 `bad request`. */
export class HeaderFault extends Error {
  /** The response to invalid tags has metrics, because tags are checked later than other headers. */
  readonly carriesMetrics: boolean;
  readonly reason: string;
  constructor(header: string, reason: string) {
    super(`Invalid header '${header}': ${reason}`);
    this.name = 'HeaderFault';
    this.reason = reason;
    this.carriesMetrics = header === TAGS;
  }
}

const VERSION = 'x-faunadb-api-version';
const LAST_SEEN = 'x-last-seen-txn';
const TIMEOUT = 'x-query-timeout';
const RETRIES = 'x-max-retries-on-contention';
const TAGS = 'x-fauna-tags';

const VERSION_DEFAULT: ApiVersion = '2.1';
const RETRIES_MAX = 7;

/** @throws HeaderFault */
export function readHeaders({ headers }: Pick<HttpRequest, 'headers'>): RequestOptions {
  const apiVersion = readVersion(headers[VERSION]);
  const lastSeenTxn = readInteger(LAST_SEEN, headers[LAST_SEEN], 0, Number.MAX_SAFE_INTEGER);
  const timeoutMs = readInteger(TIMEOUT, headers[TIMEOUT], 1, LIMITS.queryTimeoutMaxMs);
  const retriesMax = readInteger(RETRIES, headers[RETRIES], 0, RETRIES_MAX);
  return {
    apiVersion,
    lastSeenTxn,
    timeoutMs,
    retriesMax,
    tags: readTags(headers[TAGS]),
    isFormatted: isFormatted(headers),
    isTraced: headers['x-trace'] !== undefined,
  };
}

/** Whether the caller reads the response: it is then indented. */
export const isFormatted = (headers: HttpRequest['headers']): boolean =>
  headers['x-faunadb-formatted-json'] !== undefined ||
  /curl|HTTPie/.test(headers['user-agent'] ?? '');

function readVersion(text: string | undefined): ApiVersion {
  if (text === undefined) return VERSION_DEFAULT;
  const version = API_VERSIONS.find((each) => each === text.trim());
  if (version) return version;
  throw new HeaderFault(VERSION, `expected one of ${API_VERSIONS.join(', ')}`);
}

function readInteger(
  name: string,
  text: string | undefined,
  min: number,
  max: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new HeaderFault(name, `expected an integer from ${min} to ${max}`);
}

const TAGS_CHARACTERS_MAX = 3000;
const TAGS_MAX = 25;
const TAG_NAME_MAX = 40;
const TAG_VALUE_MAX = 80;

/** @throws HeaderFault */
export function readTags(text: string | undefined): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  if (text === undefined || text.trim() === '') return tags;
  if (text.length > TAGS_CHARACTERS_MAX)
    tagFault(`expected at most ${TAGS_CHARACTERS_MAX} characters`);
  const pairs = text.split(',');
  if (pairs.length > TAGS_MAX) tagFault(`too many tags, expected at most ${TAGS_MAX}`);
  for (const pair of pairs) {
    const [name = '', value, ...rest] = pair.split('=').map((part) => part.trim());
    if (value === undefined || rest.length > 0) tagFault('expected pairs key=value');
    if (!isWord(name, TAG_NAME_MAX)) tagFault(`invalid key, ${wordOf(TAG_NAME_MAX)}`);
    if (!isWord(value, TAG_VALUE_MAX)) tagFault(`invalid value, ${wordOf(TAG_VALUE_MAX)}`);
    if (tags.has(name)) tagFault('expected each key once');
    tags.set(name, value);
  }
  return tags;
}

const isWord = (text: string, charactersMax: number): boolean =>
  /^\w+$/.test(text) && text.length <= charactersMax;

const wordOf = (charactersMax: number): string =>
  `expected 1 to ${charactersMax} letters, digits and underscores`;

/** Programs search this text for "invalid tags", "too many tags", "invalid key" and "invalid value". */
function tagFault(reason: string): never {
  throw new HeaderFault(TAGS, `invalid tags: ${reason}`);
}

/** The tags of the request for the response, sorted by key. Invalid tags are returned, too, without a check. */
export const tagsByKey = (text: string): string =>
  text
    .split(',')
    // `\0` sorts below every character of a key, so a key sorts before longer keys that begin with it.
    .map((pair) => pair.trim().replace('=', '\0'))
    .toSorted()
    .join(',')
    .replaceAll('\0', '=');
