/**
 * Every failure a caller can see, the one class that carries them, and our own assertions.
 * Imports nothing.
 */

/** Query errors: they have a position. `status` is what HTTP answers. Spec: functions 3.2. */
export const FAULTS = {
  'invalid expression': { status: 400 },
  'invalid argument': { status: 400 },
  'invalid ref': { status: 400 },
  'value not found': { status: 404 },
  'instance not found': { status: 404 },
  'instance already exists': { status: 400 },
  'instance not unique': { status: 400 },
  'validation failed': { status: 400 },
  'transaction aborted': { status: 400 },
  'call error': { status: 400 },
  'stack overflow': { status: 400 },
  'permission denied': { status: 403 },
  'authentication failed': { status: 400 },
  'missing identity': { status: 400 },
  'invalid token': { status: 400 },
  'invalid scope': { status: 400 },
  'invalid write time': { status: 400 },
  'invalid object in container': { status: 400 },
  'move database error': { status: 400 },
  'feature not available': { status: 400 },
  'schema validation failed': { status: 400 },
  'check constraint failure': { status: 400 },
} as const satisfies Record<string, { readonly status: number }>;

export type FaultCode = keyof typeof FAULTS;
export type Step = string | number;

/** One member of `failures` inside `validation failed`. Spec: functions 3.3. */
export interface FieldFailure {
  readonly field: readonly string[];
  readonly code: string;
  readonly description: string;
}

export interface Fault {
  readonly code: FaultCode;
  readonly position: readonly Step[];
  readonly description: string;
  /** Only where it differs from the code's own status (inactive index, `key_from_secret`: 400). */
  readonly status?: number;
  readonly failures?: readonly FieldFailure[];
  readonly cause?: readonly Fault[];
}

/**
 * A query failed: one or more faults of the caller. Thrown inside the engine, answered as data.
 * Not an `Error`: queries fail often, nobody reads our stack, and capturing one is slow.
 */
export class QueryFailure {
  readonly faults: readonly Fault[];
  constructor(faults: readonly Fault[]) {
    this.faults = faults;
  }
}

/** Failures of the request as a whole: they have no position. Spec: functions 3.4. */
export const REFUSALS = {
  unauthorized: 401,
  'bad request': 400,
  forbidden: 403,
  'not found': 404,
  'method not allowed': 405,
  'request timeout': 408,
  'contended transaction': 409,
  'request too large': 413,
  'too many requests': 429,
  'processing time limit exceeded': 440,
  'internal server error': 500,
  'time out': 503,
  // Burrow's own, for what only a local database can meet.
  connection_needed: 503,
  history_not_local: 400,
  limit_exceeded: 400,
  local_data_loss: 500,
  locked: 423,
  outbox_full: 507,
  quota_exceeded: 507,
  storage_blocked: 503,
  storage_unavailable: 503,
  unsent_writes: 409,
  worker_lost: 503,
} as const satisfies Record<string, number>;

export type RefusalCode = keyof typeof REFUSALS;

/** The request was refused before or beside its evaluation. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  constructor(code: RefusalCode, description: string, options?: ErrorOptions) {
    super(description, options);
    this.name = 'Refusal';
    this.code = code;
  }
}

/** A state that our own code promises not to reach. Never shown to callers as a fault of theirs. */
export function assert(condition: unknown, message: () => string): asserts condition {
  if (!condition) throw new Error(`Internal error in Burrow, assertion failed: ${message()}`);
}

export function unreachable(value: never): never {
  throw new Error(`Internal error in Burrow, unexpected value: ${String(value)}`);
}

export const fault = (
  code: FaultCode,
  position: readonly Step[],
  description: string,
  more: Partial<Pick<Fault, 'status' | 'failures' | 'cause'>> = {},
): Fault => ({ code, position, description, ...more });

/** Fails the query with one fault. */
export function fail(
  code: FaultCode,
  position: readonly Step[],
  description: string,
  more: Partial<Pick<Fault, 'status' | 'failures' | 'cause'>> = {},
): never {
  throw new QueryFailure([fault(code, position, description, more)]);
}

const RANK = (code: FaultCode): number =>
  code === 'invalid expression'
    ? 0
    : code === 'invalid argument'
      ? 1
      : code === 'permission denied'
        ? 2
        : 3;

/** Status of the first error of the highest class: parse > argument > permission > rest. Spec: functions 3.1. */
export function statusOf(faults: readonly Fault[]): number {
  let best = faults[0];
  for (const each of faults) if (best && RANK(each.code) < RANK(best.code)) best = each;
  return best ? (best.status ?? FAULTS[best.code].status) : 500;
}

/** JavaScript's stack ends where no promise of ours says; hosts name its end differently. */
export const isStackExhausted = (thrown: unknown): boolean =>
  thrown instanceof RangeError || (thrown instanceof Error && thrown.name === 'InternalError');
