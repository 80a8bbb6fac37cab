/** What passes between the worker of a page and the one beside it that executes queries which take long. */
import type { QueryAnswer, QueryRequest } from '../../src/engine/host.ts';
import type { RefusalData } from '../../src/host/api.ts';
import type { Settings } from '../../src/host/settings.ts';

/** Name of a worker that is started for nothing but that. */
export const EVALUATOR_NAME = 'burrow-evaluator';

/** This very file again, in another role: bundlers need to know of one worker only. */
export const startEvaluator = (): Worker =>
  new Worker(self.location.href, { type: 'module', name: EVALUATOR_NAME });

export interface EvaluatorOptions {
  readonly name: string;
  readonly settings: Settings;
  /** Mark of the database that is open: no other is. */
  readonly birth: string;
  /** Of the worker of the page: its mark and the note of its end are for both. */
  readonly aliveLock: string;
  /** Hash of the root secret. */
  readonly rootHash: string;
}

/** Executed here from its start. */
export interface LongQuery {
  readonly request: Omit<QueryRequest, 'isAbandoned'>;
  /** Of the synced identity: a read of what the copy shows. */
  readonly isSynced: boolean;
}

export type ToEvaluator =
  | { readonly type: 'open'; readonly options: EvaluatorOptions }
  | { readonly type: 'query'; readonly query: LongQuery }
  /** The worker is not ended before it has answered. */
  | { readonly type: 'write' };

export type FromEvaluator =
  | { readonly type: 'opened' }
  | { readonly type: 'answer'; readonly answer: QueryAnswer }
  | { readonly type: 'refused'; readonly refusal: RefusalData }
  /** Asks before the first write of a query. */
  | { readonly type: 'may-write' };
