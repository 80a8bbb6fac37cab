/** The answer of a query, with its metrics. */
import type { QueryMetrics } from '../../answers.ts';
import { utf8Length } from '../../codec/utf8.ts';
import { statusOf } from '../../errors.ts';
import type { Micros } from '../../values/value.ts';
import type { QueryAnswer, QueryRequest } from '../context/host.ts';
import type { Transacted } from '../transactions/transactor.ts';
import { errorBody, NO_METRICS, refusedAnswer } from './answer.ts';
import type { QueryExecution } from './execute-query.ts';

export function answerOf(
  request: QueryRequest,
  run: Transacted<QueryExecution>,
  tookMicros: Micros,
): QueryAnswer {
  const { caller, outcome, snapshot, budget, meters } = run.value;
  const body = outcome.ok
    ? `{"resource":${outcome.text}}`
    : errorBody(outcome.failure.faults, request.apiVersion);
  const isCounted = outcome.ok || outcome.failure.faults[0]?.code === 'transaction aborted';
  const metrics: QueryMetrics = {
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
    head: run.head,
    metrics,
    credential: caller.label,
    database: caller.path,
    ...(outcome.ok
      ? {}
      : { faults: outcome.failure.faults, hasOwnRights: hasOwnRights(run.value) }),
    ...(outcome.ok && meters.notices.length > 0 && { notices: meters.notices }),
    readSet: run.readSet,
    scanned: meters.work.scannedEntries,
  };
}

/** Whether the query ran only with the caller's own permissions, so that it met nothing that the caller may not see. */
export const hasOwnRights = ({ caller, meters }: QueryExecution): boolean =>
  caller.role === 'admin' || !meters.hasOtherRights;

/** The answer to a refused query, with its metrics. */
export function refusedQuery(
  request: QueryRequest,
  reason: unknown,
  started: Micros,
  ended: Micros,
): QueryAnswer {
  const answer = refusedAnswer(reason, ended);
  const metrics: QueryMetrics = {
    ...NO_METRICS,
    bytesIn:
      request.queryParts?.reduce((sum, { length }) => sum + length, 0) ?? utf8Length(request.query),
    bytesOut: utf8Length(answer.body),
    queryTime: Math.round((ended - started) / 1000),
  };
  return { ...answer, metrics };
}
