/**
 * All failures that a caller of a database can see. Their codes are defined in the tables here and nowhere else, except those by which a
 * hub refuses a device, and those of the package's entries beside `index.js`. Also the classes that carry failures through the engine, and
 * assertions. Imports nothing.
 */

/** A row of the tables below: the properties of a code. */
interface ErrorRow {
  /** HTTP status of the response. */
  readonly status: number;
  /** Name of the class by which programs on the page catch the error: one class for all codes with the same remedy. */
  readonly class: string;
  /** The same call can be repeated unchanged: it had no effect, and may succeed next time. */
  readonly retryable?: true;
}

/** Errors in a query: they have a position. Spec: functions 3.2. */
export const FAULTS = {
  'invalid expression': { status: 400, class: 'BadRequest' },
  'invalid argument': { status: 400, class: 'BadRequest' },
  'invalid ref': { status: 400, class: 'BadRequest' },
  'value not found': { status: 404, class: 'NotFound' },
  'instance not found': { status: 404, class: 'NotFound' },
  'instance already exists': { status: 400, class: 'BadRequest' },
  'instance not unique': { status: 400, class: 'BadRequest' },
  'validation failed': { status: 400, class: 'BadRequest' },
  'transaction aborted': { status: 400, class: 'BadRequest' },
  'call error': { status: 400, class: 'BadRequest' },
  'stack overflow': { status: 400, class: 'BadRequest' },
  'permission denied': { status: 403, class: 'PermissionDenied' },
  'authentication failed': { status: 400, class: 'BadRequest' },
  'missing identity': { status: 400, class: 'BadRequest' },
  'invalid token': { status: 400, class: 'BadRequest' },
  'invalid write time': { status: 400, class: 'BadRequest' },
  'invalid object in container': { status: 400, class: 'BadRequest' },
  'move database error': { status: 400, class: 'BadRequest' },
  'feature not available': { status: 400, class: 'BadRequest' },
} as const satisfies Record<string, ErrorRow>;

export type FaultCode = keyof typeof FAULTS;
export type Step = string | number;

/** A text, or two if API versions before 2.7 use another one. See `fault-texts.ts`. */
export type FaultText = string | { readonly now: string; readonly before27: string };

interface Described {
  readonly description: string;
  /** Description for API versions before 2.7, if it differs. */
  readonly legacyDescription?: string;
}

export const described = (text: FaultText): Described =>
  typeof text === 'string'
    ? { description: text }
    : { description: text.now, legacyDescription: text.before27 };

/** A member of `failures` in a fault `validation failed`. Spec: functions 3.3. */
export interface FieldFailure extends Described {
  readonly field: readonly string[];
  readonly code: string;
}

export interface Fault extends Described {
  readonly code: FaultCode;
  readonly position: readonly Step[];
  /** Only set if it differs from the status of the code (inactive index, `key_from_secret`: 400). */
  readonly status?: number;
  readonly failures?: readonly FieldFailure[];
  readonly cause?: readonly Fault[];
  /** Appended to the description for clients of a page. HTTP responses omit it, because programs compare descriptions. */
  readonly detail?: string | undefined;
}

/**
 * A query failed: one or more faults of the caller. Thrown inside the engine; callers of the engine get the faults as data. Not an `Error`:
 * queries fail often, and capturing a stack trace that nobody reads is slow.
 */
export class QueryFailure {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    this.faults = faults;
  }
}

/** Failures of a request as a whole: they have no position. Spec: functions 3.4. */
export const REFUSALS = {
  unauthorized: { status: 401, class: 'Unauthorized' },
  'bad request': { status: 400, class: 'BadRequest' },
  'invalid url parameter': { status: 400, class: 'BadRequest' },
  forbidden: { status: 403, class: 'PermissionDenied' },
  'not found': { status: 404, class: 'NotFound' },
  'method not allowed': { status: 405, class: 'MethodNotAllowed' },
  'request timeout': { status: 408, class: 'UnavailableError', retryable: true },
  'contended transaction': { status: 409, class: 'ContendedTransaction', retryable: true },
  'request too large': { status: 413, class: 'BadRequest' },
  'too many requests': { status: 429, class: 'TooManyRequests', retryable: true },
  'internal server error': { status: 500, class: 'InternalError' },
  'time out': { status: 503, class: 'UnavailableError', retryable: true },
  // Codes of Burrow's own, for failures that only a local database can have.
  connection_needed: { status: 503, class: 'ConnectionNeeded' },
  copy_incomplete: { status: 503, class: 'CopyIncomplete' },
  file_not_uploaded: { status: 404, class: 'NotFound' },
  hub_unreachable: { status: 503, class: 'ConnectionNeeded', retryable: true },
  history_not_local: { status: 400, class: 'HistoryNotLocal' },
  limit_exceeded: { status: 400, class: 'BadRequest' },
  local_data_loss: { status: 500, class: 'LocalDataLoss' },
  locked: { status: 423, class: 'DatabaseLocked' },
  login_needed: { status: 401, class: 'Unauthorized' },
  outbox_full: { status: 507, class: 'OutboxFull' },
  quota_exceeded: { status: 507, class: 'StorageFull' },
  storage_blocked: { status: 503, class: 'UnavailableError', retryable: true },
  storage_unavailable: { status: 503, class: 'UnavailableError' },
  // These failures occur only on the page.
  log_not_complete: { status: 409, class: 'LogNotComplete', retryable: true },
  /** The code comes from a hub of another version and is not known here: it is in `errors`. Or the reason was too long to be stored. */
  unknown_error: { status: 500, class: 'InternalError' },
  unsent_writes: { status: 409, class: 'UnsentWrites' },
  worker_lost: { status: 503, class: 'UnavailableError' },
  worker_not_started: { status: 503, class: 'UnavailableError' },
} as const satisfies Record<string, ErrorRow>;

/** Wrong use of the library, found before a request to a database: these codes have no HTTP status. */
export const MISUSES = {
  database_closed: { class: 'DatabaseClosed' },
  invalid_usage: { class: 'UsageError' },
  unsupported: { class: 'Unsupported' },
} as const satisfies Record<string, Pick<ErrorRow, 'class'>>;

export type RefusalCode = keyof typeof REFUSALS;

/** The request was refused before its evaluation, or for a reason outside the evaluation. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** Until when the same call will be refused, in microseconds, if that is known. */
  readonly until?: number;

  get status(): number {
    return REFUSALS[this.code].status;
  }

  constructor(code: RefusalCode, description: string, options?: ErrorOptions) {
    super(description, options);
    this.name = 'Refusal';
    this.code = code;
  }
}

/** Checks an invariant of our own code. A violation is a bug, and is never reported to callers as their fault. */
export function assert(condition: unknown, message: () => string): asserts condition {
  if (!condition) throw new Error(`Internal error in Burrow, assertion failed: ${message()}`);
}

export function unreachable(value: never): never {
  throw new Error(`Internal error in Burrow, unexpected value: ${String(value)}`);
}

export const fault = (
  code: FaultCode,
  position: readonly Step[],
  text: FaultText,
  more: Partial<Omit<Fault, 'code' | 'position' | keyof Described>> = {},
): Fault =>
  typeof text === 'string'
    ? { code, position, description: text, ...more }
    : { code, position, ...described(text), ...more };

export function fail(
  code: FaultCode,
  position: readonly Step[],
  text: FaultText,
  more: Partial<Omit<Fault, 'code' | 'position' | keyof Described>> = {},
): never {
  throw new QueryFailure([fault(code, position, text, more)]);
}

const RANK = (code: FaultCode): number =>
  code === 'invalid expression'
    ? 0
    : code === 'invalid argument'
      ? 1
      : code === 'permission denied'
        ? 2
        : 3;

/** Status of the first error of the most severe kind: parse errors, then arguments, permissions, all others. Spec: functions 3.1. */
export function statusOf(faults: readonly Fault[]): number {
  let best = faults[0];
  for (const each of faults) if (best && RANK(each.code) < RANK(best.code)) best = each;
  return best ? (best.status ?? FAULTS[best.code].status) : 500;
}

/** The JavaScript stack is exhausted. Its size depends on the host, and hosts use different error classes. */
export const isStackExhausted = (thrown: unknown): boolean =>
  thrown instanceof RangeError || (thrown instanceof Error && thrown.name === 'InternalError');
