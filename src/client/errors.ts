/** What a caller can catch. Every failed query is a `QueryError`; misuse of the library is a `BurrowError`. */

/** The library was used in a way it cannot serve. The message says what to do. */
export class BurrowError extends Error {
  override readonly name: string = 'BurrowError';
}

/** One error of a failed query, as on the wire. */
export interface WireError {
  readonly code: string;
  readonly description: string;
  /** Path to the part of the query that failed; absent when the request failed as a whole. */
  readonly position?: readonly (string | number)[];
  readonly failures?: readonly WireFailure[];
  readonly cause?: readonly WireError[];
}

/** What is wrong with one field of a document. */
export interface WireFailure {
  readonly field: readonly string[];
  readonly code: string;
  readonly description: string;
}

/** A query failed. Carries its first error, and all of them in `errors`. */
export class QueryError extends Error {
  override readonly name: string = 'QueryError';
  readonly code: string;
  readonly description: string;
  readonly position: readonly (string | number)[];
  /** HTTP status that the same failure has over HTTP. */
  readonly status: number;
  readonly errors: readonly WireError[];

  constructor(status: number, errors: readonly WireError[]) {
    const { code, description, position = [] } = errors[0] ?? UNEXPLAINED;
    super(`${code}: ${description}`);
    this.code = code;
    this.description = description;
    this.position = position;
    this.status = status;
    this.errors = errors;
  }
}

const UNEXPLAINED: WireError = {
  code: 'internal server error',
  description: 'The answer names no error.',
};

/** 400: the query is wrong, or what it asks for is refused. */
export class BadRequest extends QueryError {
  override readonly name = 'BadRequest';
}
/** 401: the secret opens nothing. */
export class Unauthorized extends QueryError {
  override readonly name = 'Unauthorized';
}
/** 403: the identity may not do this. */
export class PermissionDenied extends QueryError {
  override readonly name = 'PermissionDenied';
}
/** 404: a document or value that the query needs is not there. */
export class NotFound extends QueryError {
  override readonly name = 'NotFound';
}
/** 405 */
export class MethodNotAllowed extends QueryError {
  override readonly name = 'MethodNotAllowed';
}
/** 409: others kept changing the same documents; the query may be sent again. */
export class ContendedTransaction extends QueryError {
  override readonly name = 'ContendedTransaction';
}
/** 429 */
export class TooManyRequests extends QueryError {
  override readonly name = 'TooManyRequests';
}
/** 500: a fault of the database itself. */
export class InternalError extends QueryError {
  override readonly name = 'InternalError';
}
/** 503: the database cannot answer now: a time-out, blocked storage, a lost worker. */
export class UnavailableError extends QueryError {
  override readonly name = 'UnavailableError';
}

const BY_STATUS: Readonly<Record<number, typeof QueryError>> = {
  400: BadRequest,
  401: Unauthorized,
  403: PermissionDenied,
  404: NotFound,
  405: MethodNotAllowed,
  409: ContendedTransaction,
  429: TooManyRequests,
  500: InternalError,
  503: UnavailableError,
};

export const queryError = (status: number, errors: readonly WireError[]): QueryError =>
  new (BY_STATUS[status] ?? QueryError)(status, errors);
