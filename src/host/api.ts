/**
 * The whole contract between the page and its worker: calls with plain data, and a message port for everything that is not a reply. Errors
 * are passed as data too, because a thrown error keeps only its message on the way.
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

/** The database could not execute the call. A query that was evaluated and failed is not a refusal: it has a reply. */
export interface RefusalData {
  readonly code: RefusalCode;
  readonly description: string;
}
export type Reply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: RefusalData };

/** `Port` is `MessagePort`, a type that this folder does not have. */
export interface HostApi<Port> {
  open(options: OpenOptions, port: Port): Promise<Reply<OpenReply>>;
  query(call: QueryCall): Promise<Reply<QueryReply>>;
  /** Stops a call if it has had no effect yet. The call is then refused with `time out`. */
  abort(call: number): Promise<Reply<void>>;
  http(call: HttpCall): Promise<Reply<HttpReply>>;
  /** The file behind a `burrow-file:` URL; undefined when the URL has expired or never existed. */
  logFile(id: string, version: number): Promise<Reply<LogFile | undefined>>;
  /** Describes all problems in the stored data. Progress is reported through the port. */
  verify(): Promise<Reply<readonly string[]>>;
  acknowledgeLoss(): Promise<Reply<void>>;
  /** Locks the database in all tabs and for later opens, then closes it. */
  lock(): Promise<Reply<void>>;
  /** Unlocks the database in all tabs if the login is accepted. This worker is not used after that: another one opens the database. */
  unlock(call: UnlockCall): Promise<Reply<UnlockReply>>;
  /**
   * Makes the database a copy of a hub's database and keeps it in sync. Resolves when it can be used: at once, except for the first time.
   */
  sync(call: SyncCall): Promise<Reply<SyncReply>>;
  /** Executes a write as the synced identity and stores it in the outbox. */
  submit(call: SubmitCall): Promise<Reply<SubmitReply>>;
  /** Waits. `synced`: until a set, or all sets, show what the hub has now. `settled`: until every write has its verdict. */
  syncWait(call: SyncWait): Promise<Reply<void>>;
  writes(states: readonly WriteState[] | undefined): Promise<Reply<readonly WriteData[]>>;
  /** The verdict on a write. Undefined if there is none yet: a message follows when there is. */
  verdict(id: string): Promise<Reply<JudgedData | undefined>>;
  /** Resolves a refused write. Returns the reply to the write that replaces it, if there is one. */
  resolveWrite(id: string, choice: WriteChoice): Promise<Reply<SubmitReply | undefined>>;
  stopSync(): Promise<Reply<void>>;
  /** Stores a file beside the documents, outside the query store. */
  putFile(file: BlobLike): Promise<Reply<Pick<FileData, 'file' | 'size'>>>;
  /** Returns a file from this device, or from the hub if a document `of` there refers to it. */
  getFile(call: FileCall): Promise<Reply<BlobLike>>;
  /** Fetches a file like `getFile`, and stores it on this device. */
  fetchFile(call: FileCall): Promise<Reply<void>>;
  /** Sends a file to the hub, for a document that refers to it. */
  sendFile(call: FileCall): Promise<Reply<void>>;
  /** Removes a file from this device. */
  removeFile(file: string): Promise<Reply<void>>;
  files(): Promise<Reply<readonly FileData[]>>;
  /** Number of writes and files that have not reached the hub. */
  unsent(): Promise<Reply<number>>;
  /** Lets running calls finish, then closes the database. */
  close(): Promise<Reply<void>>;
  /** Closes the database and deletes its data. */
  destroy(): Promise<Reply<void>>;
  /** Deletes the data of a database that this worker has not opened. */
  forget(name: string): Promise<Reply<void>>;
  /** Copies what can be read of a damaged database into a new one. The damaged one must not be open anywhere. */
  salvage(from: string, into: string): Promise<Reply<SalvageResult>>;
}

/** Messages from the page, through the port. */
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
  /** The page has lost the network, or has it again. Sent because not every browser notifies workers. */
  | { readonly type: 'network'; readonly change: 'online' | 'offline' }
  /** Names of the locks of workers that ended cleanly, while the browser went on. Sent once, after opening. */
  | { readonly type: 'ended'; readonly workers: readonly string[] }
  /** The page is no longer visible, and may be frozen or terminated soon. */
  | { readonly type: 'hidden' }
  | { readonly type: 'ping' };

/** Messages from the worker, through the port. */
export type WorkerMessage =
  /** An answer of a live query: the first one, and each that differs from the one before. */
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly status: number;
      readonly body: string;
      /** As in `QueryReply`. */
      readonly missing?: readonly MissingSet[];
      readonly isFromHub?: true;
    }
  /** `part` is undefined at the end of the stream. */
  | {
      readonly type: 'part';
      readonly stream: number;
      readonly part: string | Uint8Array | undefined;
    }
  | { readonly type: 'broken'; readonly stream: number; readonly refusal: RefusalData }
  | ProgressMessage
  | SyncMessage
  /** The worker has closed the database without a call. */
  | { readonly type: 'closed'; readonly description: string }
  /** The database was locked or unlocked, here or in another tab. The worker has closed it. */
  | { readonly type: 'locked' }
  | { readonly type: 'unlocked' }
  | { readonly type: 'pong' };

export interface ProgressMessage {
  readonly type: 'progress';
  /** `move`: stored rows are moved into blocks while the database is being opened. */
  readonly task: 'index' | 'verify' | 'move';
  /** Name of the index that is being built. */
  readonly name: string | undefined;
  /** Number of documents or rows processed so far. */
  readonly done: number;
  readonly isComplete: boolean;
}
