/** Messages between the worker of a page and the second worker, which executes long queries. */
import type { QueryAnswer, QueryRequest } from '../../src/engine/host.ts';
import type { RefusalData } from '../../src/host/api.ts';
import type { Settings } from '../../src/host/settings.ts';

/** Name of a worker that only executes long queries. */
export const EVALUATOR_NAME = 'burrow-evaluator';

/** Starts this same file under another name, so that bundlers need to handle only one worker. */
export const startEvaluator = (): Worker =>
  new Worker(self.location.href, { type: 'module', name: EVALUATOR_NAME });

export interface EvaluatorOptions {
  readonly name: string;
  readonly settings: Settings;
  /** Identifier of the open database: the second worker must not use another one. */
  readonly birth: string;
  /** The lock of the page's worker. The write mark and the record of that worker's end count for both workers. */
  readonly aliveLock: string;
  /** Hash of the root secret. */
  readonly rootHash: string;
}

/** A query that the second worker executes from the start. */
export interface LongQuery {
  readonly request: Omit<QueryRequest, 'isAbandoned'>;
  /** A query of the synced identity: it reads what the copy shows. */
  readonly isSynced: boolean;
}

export type ToEvaluator =
  | { readonly type: 'open'; readonly options: EvaluatorOptions }
  | { readonly type: 'query'; readonly query: LongQuery }
  /** Permission to write: the page's worker will not terminate the second one before it has answered. */
  | { readonly type: 'write' };

export type FromEvaluator =
  | { readonly type: 'opened' }
  | { readonly type: 'answer'; readonly answer: QueryAnswer }
  | { readonly type: 'refused'; readonly refusal: RefusalData }
  /** Requests permission before the first write of a query. */
  | { readonly type: 'may-write' };
