/** What an engine offers to logs, http, sync, worker and hub. What it needs for that: `api.ts`. */
import type { Micros } from '../values/value.ts';
import type { CommitNotice, Credential, QueryAnswer, QueryRequest, ReadSet } from './api.ts';
import type { Attempted, QueryPlan } from './attempt.ts';
import type { Attempt, AttemptInput, AttemptResult } from './attempts.ts';
import type { Transacted } from './transact.ts';

/** Queries and other work as parts of transactions: for who adds something to what a query does, in the same commit. */
export interface Transactions {
  read<T>(attempt: Attempt<T>): Promise<Transacted<T>>;
  /** Settles when the commit is durable, or at once when nothing was written. */
  write<T>(attempt: Attempt<T>): Promise<Transacted<T>>;
  /** Reads the text of a query, for `plan`. Undefined: it is short, `plan` does it at once. */
  readLong(
    request: Pick<QueryRequest, 'query' | 'apiVersion'>,
  ): Promise<QueryPlan['parsed']> | undefined;
  /** What all runs of a query have in common. `ids`: the first it makes up; `moreIds`: those behind them, by how many came before. */
  plan(
    request: QueryRequest,
    given?: Partial<Pick<QueryPlan, 'standIn' | 'now' | 'parsed'>> & {
      readonly ids?: readonly bigint[];
      readonly moreIds?: (index: number) => bigint;
    },
  ): QueryPlan;
  /** One run; what it reads is bounded, whatever else the attempt reads. @throws Suspended, Refusal */
  run(plan: QueryPlan, input: AttemptInput): AttemptResult<Attempted>;
  answer(plan: QueryPlan, run: Transacted<Attempted>): QueryAnswer;
  /** The answer to what a run threw; what is no refusal is thrown again. */
  refused(plan: QueryPlan, reason: unknown): QueryAnswer;
}

export interface Engine {
  readonly transactions: Transactions;
  query(request: QueryRequest): Promise<QueryAnswer>;
  /** The identity behind a secret, or undefined when it opens nothing. */
  authenticate(secret: string): Promise<Credential | undefined>;
  /** What a secret entitles to at present, or undefined when it opens nothing. */
  standing(secret: string): Promise<Standing | undefined>;
  /** Commits of this engine, after they are durable. Returns the way to stop. */
  onCommit(listener: (notice: CommitNotice) => void): () => void;
  /** Another engine on the same store has committed: forget what it changed. */
  noteCommit(notice: CommitNotice): void;
  /** Progress of index builds; resolves when none is left. */
  buildIndexes(onProgress?: (progress: BuildProgress) => void): Promise<void>;
  /**
   * Removes what had lapsed at the last commit (history, documents with a `ttl`, what stood in deleted collections, indexes and
   * databases) in small commits of its own; resolves when nothing of it is left. Nothing that can be seen changes.
   */
  collectGarbage(onProgress?: (progress: GarbageProgress) => void): Promise<void>;
  /** Walks everything and says what is wrong. Empty: nothing. */
  verify(onProgress?: (checked: number) => void): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface BuildProgress {
  /** Name of the index. */
  readonly index: string;
  /** Documents looked at so far. */
  readonly done: number;
  readonly isComplete: boolean;
}

export interface GarbageProgress {
  /** Rows removed or rewritten so far. */
  readonly removed: number;
  readonly isComplete: boolean;
}

export interface Standing {
  /** Differs when the secret has another role, or its roles or memberships are others. */
  readonly rights: string;
  /** The last commit when it was looked at. */
  readonly head: Micros;
  /** What that depends on. */
  readonly readSet: ReadSet;
}
