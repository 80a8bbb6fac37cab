/** Messages between the main thread and a thread for long queries. Each such thread has one query at a time. */
import type { CommitNotice, QueryAnswer, QueryRequest } from '../../src/engine/host.ts';
import type { RefusalCode } from '../../src/errors.ts';
import type { AnswerOf } from '../../src/sync/protocol/messages.ts';
import type { PullRead } from '../../src/sync/hub/hints/change-hints.ts';
import type { TextParts } from './text-parts.ts';
import type { SyncRefusal } from '../../src/sync/protocol/refusals.ts';

export type Pushed = AnswerOf<'push'> | SyncRefusal;
export type LongQuery = Omit<QueryRequest, 'isAbandoned'>;

/** A push of a device: the parsed message, or its text if it arrived in parts. */
export interface LongPush {
  readonly secret: string;
  readonly message?: unknown;
  readonly parts?: TextParts;
}

/** A pull or check of a device. */
export interface LongRead {
  readonly name: 'pull' | 'check';
  readonly secret: string;
  readonly message: unknown;
}
/** The answer as JSON, or the reason for its refusal. `read`: what a pull has read, for the main thread. */
export type ReadAnswer =
  | { readonly json: Uint8Array; readonly read: PullRead | undefined }
  | SyncRefusal;

export type ToEvaluator =
  /** `fatal`: hashes of writes to refuse, because they have ended their threads too often. */
  | { readonly type: 'push'; readonly push: LongPush; readonly fatal?: readonly string[] }
  | { readonly type: 'query'; readonly request: LongQuery }
  | { readonly type: 'read'; readonly read: LongRead }
  | { readonly type: 'commit'; readonly notice: CommitNotice }
  /** Asks whether the thread still responds. It answers with `alive`. */
  | { readonly type: 'look' }
  | { readonly type: 'close' };

export type FromEvaluator =
  | { readonly type: 'pushed'; readonly pushed: Pushed }
  | { readonly type: 'answer'; readonly answer: QueryAnswer }
  | { readonly type: 'read'; readonly answer: ReadAnswer }
  | { readonly type: 'failed'; readonly code?: RefusalCode; readonly message: string }
  | { readonly type: 'alive' };
