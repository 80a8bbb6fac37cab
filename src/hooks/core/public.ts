/** Types that the hooks of every framework accept and return. */
export type { MutationOptions, MutationState } from './mutation.ts';
export type { PagesOptions, PagesState } from './pages.ts';
export type { BurrowOptions, LogOutOptions, SessionLogin, SessionState } from './session.ts';
export type { QueryChoices, QueryState } from './shared-queries.ts';
export type { SyncStatus } from './sync-status.ts';
