/** Between the thread that answers and a thread that executes long queries, which has one of them at a time. */
import type { CommitNotice, QueryAnswer, QueryRequest } from '../../src/engine/host.ts';
import type { RefusalCode } from '../../src/errors.ts';

export type LongQuery = Omit<QueryRequest, 'isAbandoned'>;

export type ToEvaluator =
  | { readonly type: 'query'; readonly request: LongQuery }
  | { readonly type: 'commit'; readonly notice: CommitNotice }
  /** Is it stuck? */
  | { readonly type: 'look' }
  | { readonly type: 'close' };

export type FromEvaluator =
  | { readonly type: 'answer'; readonly answer: Omit<QueryAnswer, 'readSet'> }
  | { readonly type: 'failed'; readonly code?: RefusalCode; readonly message: string }
  | { readonly type: 'alive' };
