/** The public names of the package. Nothing else is public. */
export { q } from './client/queries/builders.ts';
export {
  BadRequest,
  BurrowError,
  ConnectionNeeded,
  ContendedTransaction,
  CopyIncomplete,
  DatabaseClosed,
  DatabaseLocked,
  HistoryNotLocal,
  InternalError,
  LocalDataLoss,
  LogNotComplete,
  MethodNotAllowed,
  NotFound,
  OutboxFull,
  PermissionDenied,
  QueryError,
  StorageFull,
  TooManyRequests,
  Unauthorized,
  UnavailableError,
  UnsentWrites,
  Unsupported,
  UsageError,
} from './client/errors.ts';
export { queryText } from './client/queries/query-text.ts';
export { openDatabase } from './client/open.ts';
export { forgetDatabase, type ForgetOptions } from './client/forget-database.ts';
export { salvageDatabase, type SalvageOptions } from './client/salvage-database.ts';
export { listDatabases } from './client/stored-names.ts';
export {
  Bytes,
  Double,
  Expr,
  FaunaDate,
  FaunaTime,
  Query,
  Ref,
  SetRef,
  Uuid,
} from './client/queries/values.ts';
export type {
  AnswerScope,
  Client,
  Observer,
  QueryOptions,
  SubscribeOptions,
  WithMetrics,
} from './client/queries/client.ts';
export type { LossReport } from './client/connection/loss-report.ts';
export type { Database, DatabaseEvents, Progress, SignOutOptions } from './client/database.ts';
export type { ErrorCode, WireError, WireFailure } from './client/errors.ts';
export type { AbortSignalLike, BurrowFetch, FetchInit } from './client/fetch.ts';
export type { LogRequestRecord, LogState, MissingSet, QueryMetrics } from './answers.ts';
export type {
  FileOptions,
  FileReadOptions,
  FileRef,
  Files,
  FilesEvents,
  StoredFile,
} from './client/files/files.ts';
export type { FileProgress, FileState } from './host/files.ts';
export type { LogList, LogRequest, Logs } from './client/logs/logs.ts';
export type { Login } from './client/login.ts';
export type { DatabaseOptions } from './client/options.ts';
export type { PageHelper } from './client/queries/page-helper.ts';
export type { SubmitOptions, SyncOptions, WriteResolution } from './client/sync/sync-options.ts';
export type { Submitted, Sync, SyncClient, SyncEvents, SyncWrites } from './client/sync/sync.ts';
export type {
  AppTypes,
  Json,
  JudgedWrite,
  MadeVerdict,
  PendingWrite,
  RefusedVerdict,
  Verdict,
  Write,
  WriteData,
  WriteIn,
} from './client/sync/writes.ts';
export type { Arg, Evaluated } from './client/queries/types/arguments.ts';
export type { Builders, DirectCalls } from './client/queries/types/builders.ts';
export type { ElementFunction, MadeOf } from './client/queries/types/collections.ts';
export type {
  CollectionRef,
  Data,
  StoredDocument,
  DocumentRef,
  HistoryEvent,
  KeyDocument,
  Page,
  PaginateOptions,
  SchemaDocument,
  Sourced,
  Token,
} from './client/queries/types/documents.ts';
export type {
  AccessProviderParams,
  CollectionParams,
  DatabaseParams,
  FunctionParams,
  IndexParams,
  IndexSource,
  IndexTerm,
  IndexValue,
  KeyParams,
  Membership,
  Privilege,
  RoleParams,
} from './client/queries/types/schema.ts';
export type { StoredDatabase } from './client/stored-names.ts';
export type { ResultOf } from './client/queries/values.ts';
export type { AnswerPlace } from './host/query.ts';
export type { SalvageResult } from './host/salvage.ts';
export type { SetError, SyncProgress } from './host/sync.ts';
export type { RoleAction } from './values/role-actions.ts';
export type { PendingState, Persistence, SyncState, VerdictState, WriteState } from './states.ts';
