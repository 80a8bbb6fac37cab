/** Door of the room `context`: what one query carries. */
export type { AccessRequest, Permissions } from './context/access-request.ts';
export { timedOut } from './context/time-over.ts';
export { isBuiltinRole } from './context/caller.ts';
export type { Caller } from './context/caller.ts';
export type { EngineContext } from './context/context.ts';
