/** The engine of one store: what worker, hub and tests make one of. */
import { utf8Length } from '../codec/utf8.ts';
import { QueryFailure, REFUSALS, Refusal, statusOf } from '../errors.ts';
import { parseQuery } from '../query/parse.ts';
import type { Node } from '../query/node.ts';
import type { ApiVersion } from '../query/session.ts';
import type { Micros } from '../values/value.ts';
import { errorBody, refusalBody } from './answer.ts';
import type { Engine, EngineOptions, Metrics, QueryAnswer, QueryRequest } from './api.ts';
import { attemptQuery, type Attempted, type QueryPlan } from './attempt.ts';
import { authenticateSecret } from './authenticate-secret.ts';
import { buildIndexes } from './index-jobs.ts';
import { RecordedInputs, createIds } from './inputs.ts';
import { TextCache } from './text-cache.ts';
import { Transactor, type Transacted } from './transact.ts';
import { verifyStore } from './verify.ts';

export function createEngine(options: EngineOptions): Engine {
  const transactor = new Transactor(options);
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

  const query = async (request: QueryRequest): Promise<QueryAnswer> => {
    const started = options.clock();
    const plan: QueryPlan = {
      request,
      parsed: parse(request.query, request.apiVersion),
      started,
      inputs: new RecordedInputs(makeId, options, request.address),
    };
    const attempt: Parameters<typeof transactor.write<Attempted>>[0] = (input) =>
      attemptQuery(plan, input, options);
    const mayWrite =
      request.allows === 'write' &&
      !(plan.parsed instanceof QueryFailure) &&
      plan.parsed.effect === 'write';
    try {
      const run = mayWrite ? await transactor.write(attempt) : await transactor.read(attempt);
      return answerOf(request, run, options.clock() - started);
    } catch (reason) {
      return refusedAnswer(request, reason, started, options.clock());
    }
  };

  return {
    query,
    authenticate: (secret) => authenticateSecret(transactor, secret, options),
    onCommit: (listener) => transactor.onCommit(listener),
    noteCommit: (notice) => transactor.noteCommit(notice),
    buildIndexes: (onProgress) => buildIndexes(transactor, options, onProgress),
    verify: (onProgress) => verifyStore(transactor, options, onProgress),
    close: () => options.store.close(),
  };
}

const NO_READS: QueryAnswer['readSet'] = { rows: [], ranges: [] };

function answerOf(
  request: QueryRequest,
  run: Transacted<Attempted>,
  tookMicros: Micros,
): QueryAnswer {
  const { caller, outcome, snapshot, budget, meters } = run.value;
  const body = outcome.ok ? `{"resource":${outcome.text}}` : errorBody(outcome.failure.faults);
  const isCounted = outcome.ok || outcome.failure.faults[0]?.code === 'transaction aborted';
  const metrics: Metrics = {
    bytesIn: utf8Length(request.query),
    bytesOut: utf8Length(body),
    computeOps: isCounted ? budget.computeOps : 1,
    readOps: isCounted ? meters.readOps : 0,
    writeOps: outcome.ok ? meters.writeOps : 0,
    readBytes: isCounted ? meters.readBytes : 0,
    writeBytes: outcome.ok ? meters.writeBytes : 0,
    queryTime: Math.round(tookMicros / 1000),
    retries: run.retries,
  };
  return {
    status: outcome.ok ? (outcome.created ? 201 : 200) : statusOf(outcome.failure.faults),
    body,
    txnTime: run.committed ?? snapshot,
    metrics,
    credential: caller.label,
    database: caller.path,
    ...(outcome.ok ? {} : { faults: outcome.failure.faults }),
    readSet: run.readSet,
  };
}

/** A refusal, or a fault of our own: told as one opaque code, its cause left to the host's log. */
function refusedAnswer(
  request: QueryRequest,
  reason: unknown,
  started: Micros,
  ended: Micros,
): QueryAnswer {
  if (!(reason instanceof Refusal)) throw reason;
  const body = refusalBody(reason.code, reason.message);
  return {
    status: REFUSALS[reason.code],
    body,
    txnTime: ended,
    metrics: {
      ...NOTHING_DONE,
      bytesIn: utf8Length(request.query),
      bytesOut: utf8Length(body),
      queryTime: Math.round((ended - started) / 1000),
    },
    database: [],
    readSet: NO_READS,
  };
}

const NOTHING_DONE: Metrics = {
  bytesIn: 0,
  bytesOut: 0,
  computeOps: 1,
  readOps: 0,
  writeOps: 0,
  readBytes: 0,
  writeBytes: 0,
  queryTime: 0,
  retries: 0,
};
