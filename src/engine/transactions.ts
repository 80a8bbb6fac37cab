/** Exports of `transactions/` for other folders: transaction bodies, the head and the change log. */
export { changeKey, readChanges } from './transactions/change-log.ts';
export type { LoggedChange } from './transactions/change-log.ts';
export type {
  Announced,
  TransactionBody,
  BodyInput,
  BodyResult,
} from './transactions/execution.ts';
export { detachedExecutions, type DetachedOption } from './transactions/detached.ts';
export {
  commitsSince,
  HEAD,
  headOf,
  lastWithout,
  readHead,
  type Head,
} from './transactions/head.ts';
export type { ReadFreshness } from './transactions/transactor.ts';
export { PasswordGate } from './transactions/password-gate.ts';
