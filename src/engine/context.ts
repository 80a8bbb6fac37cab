/** Exports of `context/` for other folders: the context of one query. */
export type { AccessRequest, Permissions } from './context/access-request.ts';
export { timedOut } from './context/time-over.ts';
export { isBuiltinRole } from './context/caller.ts';
export type { Caller } from './context/caller.ts';
export type { EngineContext, Inputs } from './context/context.ts';
