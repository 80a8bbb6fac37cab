/**
 * Creates the engine of one store for its host (worker, hub or tests), and declares what an engine offers. For what it needs from the host,
 * see `context/host.ts`.
 */
import { QueryFailure, Refusal } from '../errors.ts';
import { parseQuery } from '../query/parse.ts';
import type { Node } from '../query/node.ts';
import type { ApiVersion } from '../query/session.ts';
import type { RowAddress } from '../store/port.ts';
import type { Micros } from '../values/value.ts';
import { answerOf, refusedQuery } from './session/query-answer.ts';
import type {
  CommitNotice,
  Credential,
  EngineOptions,
  InLine,
  QueryAnswer,
  QueryRequest,
} from './context/host.ts';
import { executeQuery, type QueryExecution, type QueryPlan } from './session/execute-query.ts';
import { isOutOfRoom } from './transactions/commit-queue.ts';
import type { DetachedOption } from './transactions/detached.ts';
import { HEAD } from './transactions/head.ts';
import type { TransactionBody, BodyInput, BodyResult } from './transactions/execution.ts';
import { authenticateSecret } from './session/authenticate-secret.ts';
import { ExpiredDataCollector } from './jobs/collect-expired-data.ts';
import { buildIndexes, type BuildOptions } from './jobs/build-indexes.ts';
import { RecordedInputs, createIds } from './session/recorded-inputs.ts';
import { entitlementsOf, type Entitlements } from './session/entitlements.ts';
import { TextCache } from './session/text-cache.ts';
import { Transactor, type ReadFreshness, type Transacted } from './transactions/transactor.ts';
import { verifyStore } from './jobs/verify.ts';

/** Executes queries inside transactions of the caller, for code that must commit something else together with a query. */
export interface Transactions {
  read<T>(body: TransactionBody<T>, options?: ReadFreshness): Promise<Transacted<T>>;
  /** Settles when the commit is durable, or at once when nothing was written. */
  write<T>(body: TransactionBody<T>, inLine?: InLine): Promise<Transacted<T>>;
  /**
   * Creates what all executions of a query share. `ids` are the first ids that the query generates. `moreIds` makes the ids after them,
   * from the number of ids before; it is used only where the query runs with the caller's own permissions.
   */
  plan(
    request: QueryRequest,
    given?: Partial<Pick<QueryPlan, 'impersonation' | 'now'>> & {
      readonly ids?: readonly bigint[];
      readonly moreIds?: (index: number) => bigint;
    },
  ): QueryPlan;
  /** Executes the query once. The reads of the query are limited, those of the rest of the body are not. @throws Suspended, Refusal */
  execute(plan: QueryPlan, input: BodyInput): BodyResult<QueryExecution>;
  answer(plan: QueryPlan, executed: Transacted<QueryExecution>): QueryAnswer;
  /** Turns what an execution threw into an answer. Throws it again if it is not a `Refusal`. */
  refused(plan: Pick<QueryPlan, 'request' | 'started'>, reason: unknown): QueryAnswer;
}

export interface Engine {
  readonly transactions: Transactions;
  query(request: QueryRequest): Promise<QueryAnswer>;
  /** The credential that belongs to a secret. Undefined if the secret is not valid. */
  authenticate(secret: string): Promise<Credential | undefined>;
  /** The present entitlements of a secret. Undefined if the secret is not valid. */
  entitlements(secret: string): Promise<Entitlements | undefined>;
  /** Calls the listener for each commit of this engine, once it is durable. Returns a function that removes the listener. */
  onCommit(listener: (notice: CommitNotice) => void): () => void;
  /** To be called when another engine on the same store has committed: drops what it changed from the cache. */
  applyCommit(notice: CommitNotice): void;
  /** Builds the indexes that are incomplete. Resolves when none is left. */
  buildIndexes(options?: BuildOptions): Promise<void>;
  /**
   * Removes data that had expired at the last commit (history, documents with a `ttl`, contents of deleted collections, indexes and
   * databases), in small commits. Resolves when none is left. Answers of queries do not change.
   * @returns number of rows removed or rewritten
   */
  collectExpiredData(): Promise<number>;
  /** Checks the whole store and returns a message for each problem found. */
  verify(onProgress?: (checked: number) => void): Promise<readonly string[]>;
  close(): Promise<void>;
}

export function createEngine(options: EngineOptions & DetachedOption): Engine {
  const transactor = new Transactor(options);
  const expiredData = new ExpiredDataCollector(transactor, options);
  const transactions = createTransactions(options, transactor);
  return {
    query: (request) => answerQuery(request, { options, transactor, transactions }),
    transactions,
    authenticate: (secret) => authenticateSecret(transactor, secret, options),
    entitlements: (secret) => entitlementsOf(transactor, secret, options),
    onCommit: (listener) => transactor.onCommit(listener),
    applyCommit: (notice) => transactor.applyCommit(notice),
    buildIndexes: (more) => buildIndexes(transactor, options, more),
    collectExpiredData: () => expiredData.collect(),
    verify: (onProgress) => verifyStore(options, onProgress),
    close: () => options.store.close(),
  };
}

function createTransactions(options: EngineOptions, transactor: Transactor): Transactions {
  const makeId = createIds(options.clock, options.random);
  const parsedQueries = new TextCache<Node | QueryFailure>();

  const parse = (text: string, apiVersion: ApiVersion): Node | QueryFailure =>
    parsedQueries.get(`${apiVersion} ${text}`, () => {
      try {
        return parseQuery(text, apiVersion);
      } catch (reason) {
        if (reason instanceof QueryFailure) return reason;
        throw reason;
      }
    });
  return {
    read: (body, freshness) => transactor.read(body, freshness),
    write: (body, inLine) => transactor.write(body, inLine),
    plan: (request, { ids = [], moreIds = makeId, ...more } = {}) => ({
      request,
      parsed: parse(request.query, request.apiVersion),
      started: request.arrived ?? options.clock(),
      inputs: new RecordedInputs(moreIds, options, {
        address: request.address,
        ids,
        ...(moreIds !== makeId && { makeOwnId: makeId }),
      }),
      ...more,
    }),
    execute: (plan, input) => input.bounded(() => executeQuery(plan, input, options)),
    answer: ({ request, started }, run) => answerOf(request, run, options.clock() - started),
    refused: ({ request, started }, reason) =>
      refusedQuery(request, reason, started, options.clock()),
  };
}

interface QueryHost {
  readonly options: EngineOptions;
  readonly transactor: Transactor;
  readonly transactions: Transactions;
}

async function answerQuery(request: QueryRequest, host: QueryHost): Promise<QueryAnswer> {
  const { options, transactor, transactions } = host;
  const plan = transactions.plan(request);
  const { view } = options;
  const looked: RowAddress[] = [];
  const body = (input: BodyInput): BodyResult<QueryExecution> => {
    looked.length = 0;
    const writer = view?.over(input.writer, looked) ?? input.writer;
    if (writer !== input.writer && mayWrite(plan)) throw new Refusal('forbidden', READ_ONLY);
    return transactions.execute(plan, { ...input, writer });
  };
  const execute = () =>
    mayWrite(plan) ? transactor.write(body, request) : transactor.read(body, request);
  try {
    let run = await execute();
    while (run.value.meters.past > (run.committed ?? run.head)) {
      const moving = movingHead(run.value.meters.past);
      // On a copy, past times are times of the hub, so the head of the copy must not move.
      if (view || !(await transactor.write(moving).catch(unlessFull))) break;
      run = await execute();
    }
    const answer = transactions.answer(plan, run);
    if (looked.length === 0) return answer;
    const { rows, ranges } = answer.readSet;
    return { ...answer, readSet: { rows: [...rows, ...looked], ranges } };
  } catch (reason) {
    return transactions.refused(plan, reason);
  }
}

/**
 * A write that moves the head to `ts`. What a query has read as of a past time must stay true, so no later commit may have that time or an
 * earlier one. This is only necessary for times after the last commit, so it is rare. See docs/decisions/0005-commits.md.
 */
const movingHead =
  (ts: Micros): TransactionBody<void> =>
  ({ writer, head }) => {
    // A commit needs at least one write. No row has this key, so the deletion has no effect.
    if (head < ts) writer.delete('sync', HEAD.key);
    return { value: undefined, ts };
  };

/** Ignores a full store: it must stay readable, so that users can get their data out. */
function unlessFull(reason: unknown): void {
  if (!isOutOfRoom(reason)) throw reason;
}

const READ_ONLY =
  'This database is a copy of a hub’s database. Write with the client of its sync (`sync.client`).';

/** Whether the query's text and its transport allow a write. The query may still write nothing. */
export const mayWrite = ({ request, parsed }: QueryPlan): boolean =>
  request.allows === 'write' && !(parsed instanceof QueryFailure) && parsed.effect === 'write';
