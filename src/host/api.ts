/**
 * The whole contract between the page and its worker: flat calls, and one port for what comes unasked. Everything is plain
 * data. Errors cross as data too, because a thrown one keeps only its message on the way.
 */
import type { MissingSet } from '../answers.ts';
import type { RefusalCode } from '../errors.ts';
import type { WriteState } from '../states.ts';
import type { FileCall, FileData } from './files.ts';
import type { BlobLike, LogFile } from './log.ts';
import type { OpenOptions, OpenReply, UnlockCall, UnlockReply } from './open.ts';
import type { HttpCall, HttpReply, LivePlace, QueryCall, QueryReply } from './query.ts';
import type { SalvageResult } from './salvage.ts';
import type {
  JudgedData,
  SubmitCall,
  SubmitReply,
  SyncCall,
  SyncMessage,
  SyncReply,
  SyncWait,
  WriteChoice,
  WriteData,
} from './sync.ts';

/** The database could not do it. A query that was evaluated and failed is no refusal: it has an answer. */
export interface RefusalData {
  readonly code: RefusalCode;
  readonly description: string;
}
export type Reply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: RefusalData };

/** `Port` is `MessagePort`, a word that this room does not have. */
export interface HostApi<Port> {
  open(options: OpenOptions, port: Port): Promise<Reply<OpenReply>>;
  query(call: QueryCall): Promise<Reply<QueryReply>>;
  /** Stops a call if it has had no effect yet: it is refused then, as `time out`. */
  abort(call: number): Promise<Reply<void>>;
  http(call: HttpCall): Promise<Reply<HttpReply>>;
  /** The file behind a `burrow-file:` URL; undefined when it has expired or never was. */
  logFile(id: string, version: number): Promise<Reply<LogFile | undefined>>;
  /** Everything that is wrong with what is stored; progress goes through the port. */
  verify(): Promise<Reply<readonly string[]>>;
  acknowledgeLoss(): Promise<Reply<void>>;
  /** Locks the database, in all tabs and for later opens, and lets go of it. */
  lock(): Promise<Reply<void>>;
  /** Opens the lock, in all tabs, when the login is accepted; then this worker has done its work: another one opens the database. */
  unlock(call: UnlockCall): Promise<Reply<UnlockReply>>;
  /** Keeps the database in step with a hub, from now on. Resolves when it can be used: at once after the first time. */
  sync(call: SyncCall): Promise<Reply<SyncReply>>;
  /** A write of the synced identity, kept in the outbox. */
  submit(call: SubmitCall): Promise<Reply<SubmitReply>>;
  /** `synced`: a set, or all of them, show what the hub has now. `settled`: every write has its verdict. */
  syncWait(call: SyncWait): Promise<Reply<void>>;
  writes(states: readonly WriteState[] | undefined): Promise<Reply<readonly WriteData[]>>;
  /** The verdict on a write; undefined: there is none yet, and a message follows when there is. */
  verdict(id: string): Promise<Reply<JudgedData | undefined>>;
  /** Resolves with what the write that takes its place was answered, if there is one. */
  resolveWrite(id: string, choice: WriteChoice): Promise<Reply<SubmitReply | undefined>>;
  stopSync(): Promise<Reply<void>>;
  /** Stores a file beside the documents, outside the query store. */
  putFile(file: BlobLike): Promise<Reply<Pick<FileData, 'file' | 'size'>>>;
  /** From here, or from the hub, which must have it under the document `of`. */
  getFile(call: FileCall): Promise<Reply<BlobLike>>;
  /** As `getFile`, and leaves it here. */
  fetchFile(call: FileCall): Promise<Reply<void>>;
  /** Has it sent to the hub under a document that refers to it. */
  sendFile(call: FileCall): Promise<Reply<void>>;
  /** From this device. */
  removeFile(file: string): Promise<Reply<void>>;
  files(): Promise<Reply<readonly FileData[]>>;
  /** Writes without a verdict. */
  unsent(): Promise<Reply<number>>;
  /** Answers what is under way, then lets go of everything. */
  close(): Promise<Reply<void>>;
  /** Closes, and deletes what is stored. */
  destroy(): Promise<Reply<void>>;
  /** Deletes what is stored under a name that this worker has not opened. */
  forget(name: string): Promise<Reply<void>>;
  /** Brings what can be read of a damaged database, which nobody has open, into a new one. */
  salvage(from: string, into: string): Promise<Reply<SalvageResult>>;
}

/** From the page, through the port. */
export type PageMessage =
  | {
      readonly type: 'subscribe';
      readonly id: number;
      readonly secret: string;
      readonly query: string;
      readonly at?: LivePlace | undefined;
    }
  | { readonly type: 'unsubscribe'; readonly id: number }
  /** Asks for the next part of a stream. */
  | { readonly type: 'pull'; readonly stream: number }
  | { readonly type: 'cancel'; readonly stream: number }
  /** The page has lost the network, or has it again: not every browser informs workers. */
  | { readonly type: 'network'; readonly change: 'online' | 'offline' }
  /** Workers that ended while the browser went on, by the names of their locks. Sent once, after opening. */
  | { readonly type: 'ended'; readonly workers: readonly string[] }
  /** The page is not seen any more, and may be frozen or ended soon. */
  | { readonly type: 'hidden' }
  | { readonly type: 'ping' };

/** From the worker, through the port. */
export type WorkerMessage =
  /** Answer of a live query: the first, and each that differs from the one before. */
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly status: number;
      readonly body: string;
      /** As in `QueryReply`. */
      readonly missing?: readonly MissingSet[];
      readonly isHubs?: true;
    }
  /** `undefined`: the stream is at its end. */
  | {
      readonly type: 'part';
      readonly stream: number;
      readonly part: string | Uint8Array | undefined;
    }
  | { readonly type: 'broken'; readonly stream: number; readonly refusal: RefusalData }
  | ProgressMessage
  | SyncMessage
  /** The worker has let go of the database, unasked. */
  | { readonly type: 'closed'; readonly description: string }
  /** The lock was turned, here or in another tab. The worker has let go of the database. */
  | { readonly type: 'locked' }
  | { readonly type: 'unlocked' }
  | { readonly type: 'pong' };

export interface ProgressMessage {
  readonly type: 'progress';
  /** `move`: rows become blocks, while the database is being opened. */
  readonly task: 'index' | 'verify' | 'move';
  /** Of the index that is being built. */
  readonly name: string | undefined;
  /** Documents, or rows, looked at so far. */
  readonly done: number;
  readonly isComplete: boolean;
}
