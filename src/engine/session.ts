/** Exports of `session/` for other folders: executing a query inside a transaction of the importing code. */
export {
  detailedBody,
  errorBody,
  NO_METRICS,
  refusalBody,
  refusedAnswer,
} from './session/answer.ts';
export type { EngineSession } from './session/engine-session.ts';
export type { QueryExecution, QueryPlan, Impersonation } from './session/execute-query.ts';
export { idFrom } from './session/recorded-inputs.ts';
export { hasOwnRights } from './session/query-answer.ts';
export { internalSession, systemContext } from './session/internal-session.ts';
