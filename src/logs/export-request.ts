/** A request to export the log records of a time range, and how callers see it. Spec: seed "Log request record"; auth 6.3. */
import { LOG_STATES, type LogState } from '../answers.ts';
import { LIMITS } from '../limits.ts';
import { DAY_MICROS } from '../values/time.ts';
import type { Micros } from '../values/value.ts';

const REGION_GROUPS = ['us-std', 'eu-std', 'classic', 'local'] as const;

/** Refuses a request to the log API. The body of the response is `{message}`. */
export class ExportRefusal extends Error {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429;
  constructor(status: ExportRefusal['status'], message: string) {
    super(message);
    this.name = 'ExportRefusal';
    this.status = status;
  }
}

const refuse = (message: string): never => {
  throw new ExportRefusal(400, message);
};

/** A validated request to export log records. */
export interface ExportRequest {
  /** As given: region group and database names, separated by slashes. */
  readonly database?: string;
  /** Database names, from the root of this store. */
  readonly path: readonly string[];
  readonly regionGroup: string;
  readonly timeStart: string;
  readonly timeEnd: string;
  readonly start: Micros;
  readonly end: Micros;
  readonly idempotencyToken?: string;
  /** Records before this time are left out: they may belong to a deleted database that had the same name. */
  readonly since?: Micros;
}

export type Members = Readonly<Record<string, unknown>>;

/** The value of a member that may have either of two names, because the hosted service used both. */
function textOf(body: Members, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    return typeof value === 'string' && value !== '' ? value : refuse(`${name} must be a string.`);
  }
  return undefined;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * Validates the body of `POST /api/v1/logs`. `home`: the region group of this store.
 * @throws ExportRefusal 400
 */
export function readExportRequest(body: Members, home: string): ExportRequest {
  const database = textOf(body, 'database');
  const group = textOf(body, 'regionGroup', 'region_group');
  const place =
    database === undefined ? { regionGroup: group ?? home, path: [] } : placeOf(database);
  if (![...REGION_GROUPS, home].includes(place.regionGroup))
    refuse(
      `Unknown region group '${place.regionGroup}'. Expected one of ${REGION_GROUPS.join(', ')}.`,
    );
  const timeStart = textOf(body, 'time_start') ?? refuse('time_start is required.');
  const timeEnd = textOf(body, 'time_end') ?? refuse('time_end is required.');
  const start = microsOf('time_start', timeStart);
  const end = microsOf('time_end', timeEnd);
  if (end <= start) refuse('time_end must be later than time_start.');
  if (end - start > LIMITS.logRangeMaxDays * DAY_MICROS)
    refuse(`The time range must not be longer than ${LIMITS.logRangeMaxDays} days.`);
  const idempotencyToken = textOf(body, 'idempotency_token', 'idempotencyToken')?.toLowerCase();
  if (idempotencyToken !== undefined && !UUID.test(idempotencyToken))
    refuse('idempotency_token must be a UUID.');
  return {
    ...(database !== undefined && { database }),
    ...place,
    timeStart,
    timeEnd,
    start,
    end,
    ...(idempotencyToken !== undefined && { idempotencyToken }),
  };
}

function placeOf(database: string): Pick<ExportRequest, 'regionGroup' | 'path'> {
  const [regionGroup = '', ...path] = database.replace(/\/$/, '').split('/');
  if (path.includes(''))
    refuse('database must be a path: a region group followed by names of databases.');
  return { regionGroup, path };
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;

function microsOf(name: string, text: string): Micros {
  const fault = `${name} must be a date-time, such as 2024-05-01T00:00:00Z.`;
  const parts = DATE_TIME.exec(text) ?? refuse(fault);
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] = parts;
  const zone = (parts[8] ?? 'Z').toUpperCase();
  const micros = Number((parts[7] ?? '').padEnd(6, '0').slice(0, 6));
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  // Date.parse accepts 30 February as a day in March.
  const isDay =
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return Number.isNaN(ms) || !isDay ? refuse(fault) : ms * 1000 + micros;
}

/** Reads the body of `POST …/url`. @throws ExportRefusal 400 */
export function readVersion(body: Members): number | undefined {
  const { version } = body;
  if (version === undefined || version === null) return undefined;
  return typeof version === 'number' && Number.isSafeInteger(version) && version >= 0
    ? version
    : refuse('version must be an integer, zero or more.');
}

export interface ListRequest {
  readonly states: readonly LogState[] | undefined;
  readonly nextToken: string | undefined;
  readonly maxResults: number;
}

const LIST_DEFAULT = 100;
const LIST_MAX = 1000;

/** Reads the body of `POST …/_list`. @throws ExportRefusal 400 */
export function readListRequest(body: Members): ListRequest {
  const maxResults = body['max_results'] ?? body['maxResults'] ?? LIST_DEFAULT;
  if (
    typeof maxResults !== 'number' ||
    !Number.isInteger(maxResults) ||
    maxResults < 1 ||
    maxResults > LIST_MAX
  )
    return refuse(`max_results must be an integer from 1 to ${LIST_MAX}.`);
  const nextToken = textOf(body, 'next_token', 'nextToken');
  return { states: statesOf(body['states']), nextToken, maxResults };
}

function statesOf(states: unknown): readonly LogState[] | undefined {
  if (states === undefined || states === null) return undefined;
  const isState = (state: unknown): state is LogState => LOG_STATES.some((each) => each === state);
  return Array.isArray(states) && states.every(isState)
    ? states
    : refuse(`states must be an array of ${LOG_STATES.join(', ')}.`);
}
