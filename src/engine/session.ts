/** Door of the room `session`: a query as a part of a transaction of somebody else. */
export {
  detailedBody,
  errorBody,
  NO_METRICS,
  refusalBody,
  refusedAnswer,
} from './session/answer.ts';
export type { EngineSession } from './session/engine-session.ts';
export type { QueryExecution, QueryPlan, Impersonation } from './session/execute-query.ts';
export { longTextReader } from './session/long-texts.ts';
export { idFrom } from './session/recorded-inputs.ts';
export { hasOwnRights } from './session/query-answer.ts';
export { internalSession, systemContext } from './session/internal-session.ts';
