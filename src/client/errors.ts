/**
 * The errors that an app can catch. Every error of the library is a `BurrowError`: its `code` says what failed, its class what can be done
 * about it. A `QueryError` is the failure of a call. Codes and their classes are defined in src/errors.ts.
 */
import { FAULTS, MISUSES, REFUSALS, type RefusalCode } from '../errors.ts';

const ANSWERS = { ...FAULTS, ...REFUSALS };
const ROWS = { ...ANSWERS, ...MISUSES };

type AnswerCode = keyof typeof ANSWERS;

/** All values of `code`. */
export type ErrorCode = keyof typeof ROWS;

type ClassName = (typeof ROWS)[ErrorCode]['class'];
/** The codes of a class. */
type CodesOf<Name extends ClassName> = {
  [Code in ErrorCode]: (typeof ROWS)[Code]['class'] extends Name ? Code : never;
}[ErrorCode];

/** One error of a failed query, as in an HTTP response. */
export interface WireError {
  /** A string, because a hub of another version may send codes that this version does not know. */
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

class CodedError extends Error {
  readonly code: ErrorCode;
  /** What failed and what to do about it, without the code. */
  readonly description: string;
  /** Whether the same call can be repeated unchanged: it had no effect, and may succeed next time. */
  readonly retryable: boolean;

  /** @internal */
  constructor(code: ErrorCode, description: string, message: string, options?: ErrorOptions) {
    super(message, options);
    const row: { readonly class: string; readonly retryable?: true } = ROWS[code];
    this.name = row.class;
    this.code = code;
    this.description = description;
    this.retryable = row.retryable === true;
  }

  /** Where the package documents this code and its remedy: a file in `node_modules`, with the anchor of a heading. */
  get help(): string {
    return `burrowdb/docs/errors.md#${this.code.replaceAll(' ', '-')}`;
  }
}

// --- misuse of the library ----------------------------------------------------------------------

/**
 * An argument or option is wrong.
 * @example
 * const failure = await openDatabase('').catch((error) => error);
 * console.log(failure instanceof UsageError, failure.code); // true invalid_usage
 */
export class UsageError extends CodedError {
  declare readonly code: CodesOf<'UsageError'>;
  /** @internal */
  constructor(description: string, options?: ErrorOptions) {
    super('invalid_usage', description, description, options);
  }
}
/**
 * The browser lacks a feature that this call needs, or withholds it from this page, for instance because it was not served over https.
 * @example
 * const stored = await listDatabases('notes').catch((error) => {
 *   if (error instanceof Unsupported) return [];
 *   throw error;
 * });
 * console.log(stored); // []
 */
export class Unsupported extends CodedError {
  declare readonly code: CodesOf<'Unsupported'>;
  /** @internal */
  constructor(description: string) {
    super('unsupported', description, description);
  }
}
/**
 * This page has closed the database: open it again.
 * @example
 * await db.close();
 * const failure = await client.query(q.Now()).catch((error) => error);
 * console.log(failure instanceof DatabaseClosed); // true
 */
export class DatabaseClosed extends CodedError {
  declare readonly code: CodesOf<'DatabaseClosed'>;
  /** @internal */
  constructor(description: string) {
    super('database_closed', description, description);
  }
}

// --- failed calls -------------------------------------------------------------------------------

/** A call failed. `code` and `description` are those of the first error; `errors` has all of them. */
class AnsweredError extends CodedError {
  /** HTTP status of the same failure over HTTP. */
  readonly status: number;
  /** Path to the part of the query that failed; empty when the call failed as a whole. */
  readonly position: readonly (string | number)[];
  readonly errors: readonly WireError[];

  /** @internal */
  constructor(code: AnswerCode, answer: Answer, options?: ErrorOptions) {
    const { errors, status = ANSWERS[code].status } = answer;
    const [first = UNEXPLAINED] = errors;
    super(code, first.description, `${first.code}: ${first.description}`, options);
    this.position = first.position ?? [];
    this.status = status;
    this.errors = errors;
  }
}

interface Answer {
  readonly errors: readonly WireError[];
  /** Undefined: the status of the code. */
  readonly status?: number | undefined;
}

const UNEXPLAINED: WireError = {
  code: 'internal server error',
  description: 'The response contains no error.',
};

/**
 * The query or request is invalid, was aborted, or exceeds a limit.
 * @example
 * const failure = await client.query(q.Divide(1, 0)).catch((error) => error);
 * console.log(failure instanceof BadRequest, failure.code); // true invalid argument
 */
export class BadRequest extends AnsweredError {
  declare readonly code: CodesOf<'BadRequest'>;
}
/**
 * The secret is not valid, or nobody has logged in on this device yet.
 * @example
 * const failure = await db.client({ secret: 'wrong' }).query(q.Now()).catch((error) => error);
 * console.log(failure instanceof Unauthorized); // true
 */
export class Unauthorized extends AnsweredError {
  declare readonly code: CodesOf<'Unauthorized'>;
}
/**
 * The identity of the secret does not have the permission for this.
 * @example
 * const { secret } = await client.query(q.CreateKey({ role: 'client' }));
 * const failure = await db.client({ secret }).query(q.Create(notes, { data: { title: 'an owl' } })).catch((error) => error);
 * console.log(failure instanceof PermissionDenied); // true
 */
export class PermissionDenied extends AnsweredError {
  declare readonly code: CodesOf<'PermissionDenied'>;
}
/**
 * A document or value that the query needs does not exist.
 * @example
 * const failure = await client.query(q.Get(q.Ref(notes, '7'))).catch((error) => error);
 * console.log(failure instanceof NotFound); // true
 */
export class NotFound extends AnsweredError {
  declare readonly code: CodesOf<'NotFound'>;
}
/**
 * The path does not support this HTTP method.
 * @example
 * const response = await db.fetch('/ping', { method: 'DELETE' });
 * console.log(response.status); // 405
 */
export class MethodNotAllowed extends AnsweredError {
  declare readonly code: CodesOf<'MethodNotAllowed'>;
}
/**
 * Other transactions kept changing the same documents: send the query again.
 * @example
 * const title = await client.query(q.Select(['data', 'title'], q.Get(q.Ref(notes, '1')))).catch((error) => {
 *   if (!(error instanceof ContendedTransaction)) throw error;
 *   return 'others were first: try again';
 * });
 * console.log(title); // a heron
 */
export class ContendedTransaction extends AnsweredError {
  declare readonly code: CodesOf<'ContendedTransaction'>;
}
/**
 * There were too many requests: wait before the next try. The description says how long, if that is known.
 * @example
 * const title = await client.query(q.Select(['data', 'title'], q.Get(q.Ref(notes, '1')))).catch((error) => {
 *   if (!(error instanceof TooManyRequests)) throw error;
 *   return 'wait, then try again';
 * });
 * console.log(title); // a heron
 */
export class TooManyRequests extends AnsweredError {
  declare readonly code: CodesOf<'TooManyRequests'>;
}
/**
 * A failure of the database itself, not of the query.
 * @example
 * const title = await client.query(q.Select(['data', 'title'], q.Get(q.Ref(notes, '1')))).catch((error) => {
 *   if (!(error instanceof InternalError)) throw error;
 *   return 'a fault of the database: report it';
 * });
 * console.log(title); // a heron
 */
export class InternalError extends AnsweredError {
  declare readonly code: CodesOf<'InternalError'>;
}
/**
 * The database cannot answer now: for instance after a timeout, while storage is blocked, or when the worker was lost.
 * @example
 * const title = await client.query(q.Select(['data', 'title'], q.Get(q.Ref(notes, '1')))).catch((error) => {
 *   if (!(error instanceof UnavailableError)) throw error;
 *   return 'try again later';
 * });
 * console.log(title); // a heron
 */
export class UnavailableError extends AnsweredError {
  declare readonly code: CodesOf<'UnavailableError'>;
}
/**
 * The user has signed out. `db.unlock()` unlocks the database.
 * @example
 * const user = await client.query(q.Create(q.Collection('users'), { credentials: { password: 'secret' } }));
 * await client.query(q.Login(user.ref, { password: 'secret' }));
 * await db.signOut();
 * const failure = await client.query(q.Now()).catch((error) => error);
 * console.log(failure instanceof DatabaseLocked); // true
 * await db.unlock({ user: user.ref, password: 'secret' });
 */
export class DatabaseLocked extends AnsweredError {
  declare readonly code: CodesOf<'DatabaseLocked'>;
}
/**
 * The device has no storage left, or the browser grants no more. Nothing was written. Free some space, or ask the user to.
 * @example
 * const owl = await client.query(q.Create(notes, { data: { title: 'an owl' } })).catch((error) => {
 *   if (error instanceof StorageFull) console.log('The device is full: free some room, and try again.');
 *   throw error;
 * });
 * console.log(owl.data.title); // an owl
 */
export class StorageFull extends AnsweredError {
  declare readonly code: CodesOf<'StorageFull'>;
}
/**
 * Too many writes are waiting for the hub: let them be sent first.
 * @example
 * const owl = await client.query(q.Create(notes, { data: { title: 'an owl' } })).catch((error) => {
 *   if (error instanceof OutboxFull) console.log('Too many changes wait to be sent: connect first.');
 *   throw error;
 * });
 * console.log(owl.data.title); // an owl
 */
export class OutboxFull extends AnsweredError {
  declare readonly code: CodesOf<'OutboxFull'>;
}
/**
 * Some writes have not reached the hub yet and would be lost: connect first, or pass `discardUnsent: true`.
 * @example
 * await db.signOut({ forget: true }).catch((error) => {
 *   if (error instanceof UnsentWrites) console.log('Connect first, or your changes are lost.');
 *   throw error;
 * });
 */
export class UnsentWrites extends AnsweredError {
  declare readonly code: CodesOf<'UnsentWrites'>;
}
/**
 * Only the hub can do this, and it cannot be reached.
 * @example
 * const title = await client.query(q.Select(['data', 'title'], q.Get(q.Ref(notes, '1')))).catch((error) => {
 *   if (!(error instanceof ConnectionNeeded)) throw error;
 *   return 'connect first';
 * });
 * console.log(title); // a heron
 */
export class ConnectionNeeded extends AnsweredError {
  declare readonly code: CodesOf<'ConnectionNeeded'>;
}
/**
 * The copy does not hold all the data that the query reads: sync the sets that the description names, or query the hub with
 * `{ at: 'hub' }`.
 * @example
 * const count = await client.query(q.Count(q.Documents(notes))).catch((error) => {
 *   if (!(error instanceof CopyIncomplete)) throw error;
 *   return 'not all notes are on this device';
 * });
 * console.log(count);
 */
export class CopyIncomplete extends AnsweredError {
  declare readonly code: CodesOf<'CopyIncomplete'>;
}
/**
 * The query reads history, but a copy holds only current versions: query the hub with `{ at: 'hub' }`.
 * @example
 * const title = await client.query(q.Select(['data', 'title'], q.Get(q.Ref(notes, '1')))).catch((error) => {
 *   if (!(error instanceof HistoryNotLocal)) throw error;
 *   return 'only the hub has the history';
 * });
 * console.log(title); // a heron
 */
export class HistoryNotLocal extends AnsweredError {
  declare readonly code: CodesOf<'HistoryNotLocal'>;
}
/**
 * Stored data is damaged or missing: see `db.loss`, and restore from elsewhere what was lost.
 * @example
 * const title = await client.query(q.Select(['data', 'title'], q.Get(q.Ref(notes, '1')))).catch((error) => {
 *   if (!(error instanceof LocalDataLoss)) throw error;
 *   return 'data on this device is damaged: see db.loss';
 * });
 * console.log(title); // a heron
 */
export class LocalDataLoss extends AnsweredError {
  declare readonly code: CodesOf<'LocalDataLoss'>;
}
/**
 * The file of a log request is not ready yet: wait until the state of the request is `Complete`.
 * @example
 * const time_end = new Date();
 * const time_start = new Date(time_end.getTime() - 60_000);
 * const { request_id: id } = await db.logs.request({ time_start, time_end });
 * await db.logs.createUrl(id).catch((error) => {
 *   if (!(error instanceof LogNotComplete)) throw error;
 * });
 */
export class LogNotComplete extends AnsweredError {
  declare readonly code: CodesOf<'LogNotComplete'>;
}

/** One class for each class name in the tables of src/errors.ts. */
const CLASSES = {
  BadRequest,
  Unauthorized,
  PermissionDenied,
  NotFound,
  MethodNotAllowed,
  ContendedTransaction,
  TooManyRequests,
  InternalError,
  UnavailableError,
  DatabaseLocked,
  StorageFull,
  OutboxFull,
  UnsentWrites,
  ConnectionNeeded,
  CopyIncomplete,
  HistoryNotLocal,
  LocalDataLoss,
  LogNotComplete,
} satisfies Record<(typeof ANSWERS)[AnswerCode]['class'], typeof AnsweredError>;

/** A call failed: the query failed, or the call got no answer. */
export type QueryError = InstanceType<(typeof CLASSES)[keyof typeof CLASSES]>;
/** Every error of the library. `code` distinguishes them. */
export type BurrowError = QueryError | UsageError | Unsupported | DatabaseClosed;

/** A constructor for `instanceof`, which narrows to a union whose members `code` distinguishes. */
type ErrorBase<E> = abstract new (...args: never) => E;
/**
 * Base class of every error of the library.
 * @example
 * const failure = await client.query(q.Divide(1, 0)).catch((error) => error);
 * console.log(failure instanceof BurrowError, failure.code); // true invalid argument
 */
export const BurrowError = CodedError as unknown as ErrorBase<BurrowError>;
/**
 * Base class of the errors of failed calls.
 * @example
 * const failure = await client.query(q.Get(q.Ref(notes, '7'))).catch((error) => error);
 * console.log(failure instanceof QueryError, failure.status); // true 404
 */
export const QueryError = AnsweredError as unknown as ErrorBase<QueryError>;

/** @param status HTTP status of the response; undefined: the status of the first error's code */
export function queryError(
  errors: readonly WireError[],
  status?: number,
  options?: ErrorOptions,
): QueryError {
  const { code } = errors[0] ?? UNEXPLAINED;
  const known = isAnswerCode(code) ? code : 'unknown_error';
  return new CLASSES[ANSWERS[known].class](known, { errors, status }, options);
}

/** An error that occurred on the page, or by which the worker refused a call. */
export const refusalError = (
  code: RefusalCode,
  description: string,
  options?: ErrorOptions,
): QueryError => queryError([{ code, description }], undefined, options);

const isAnswerCode = (code: string): code is AnswerCode => Object.hasOwn(ANSWERS, code);
