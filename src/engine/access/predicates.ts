/**
 * Predicates of roles. They are evaluated in isolation, with permissions of their own, and allow an action only if their result is exactly
 * `true`. Spec: auth 3.3.
 */
import { QueryFailure, Refusal, unreachable } from '../../errors.ts';
import type { DatabaseId, Lambda, Value } from '../../values/value.ts';
import type { ApplyIsolated, IsolatedParts, EngineContext } from '../context/context.ts';
import { isAdminOnly } from './permissions.ts';
import type { AccessRequest, Permissions } from '../context/access-request.ts';

/** Whether a predicate returns true. @throws Suspended, Refusal when the time or work limit of the whole query is exceeded */
export type Decide = (predicate: Lambda, argument: Value) => boolean;

type OwnParts = Omit<IsolatedParts, 'database' | 'permissions'>;

/** @param failed the decision when a predicate fails. True in a copy, where data that the predicate reads may be missing */
export function decider(context: EngineContext, parts: OwnParts = {}, failed = false): Decide {
  let apply: ApplyIsolated | undefined;
  return (predicate, argument) => {
    const { database } = context;
    const permissions = predicatePermissions(database);
    apply ??= context.lambdas.isolated({ ...parts, database, permissions });
    try {
      return apply(predicate, argument) === true;
    } catch (thrown) {
      if (isNo(thrown) && !context.meters.budget.isSpent) return failed;
      throw thrown;
    }
  };
}

/**
 * Whether an error only means that this predicate denies. If the time limit of the query is exceeded, the whole query fails instead: a page
 * without the undecided documents would be wrong.
 */
const isNo = (thrown: unknown): boolean =>
  thrown instanceof QueryFailure || (thrown instanceof Refusal && thrown.code !== 'time out');

/**
 * What predicates may do: in their own database, read all present documents except those in admin-only collections, read sets without
 * filtering, and call functions.
 */
function predicatePermissions(database: DatabaseId): Permissions {
  const may = (request: AccessRequest): boolean => {
    switch (request.action) {
      case 'read':
      case 'read_entry':
        return request.ref.database === database && !isAdminOnly(request.ref);
      case 'read_all_of_collection':
        return request.collection.database === database && !isAdminOnly(request.collection);
      case 'read_index':
      case 'read_all_of_index':
        return request.index.ref.database === database;
      case 'call':
        return request.function.ref.database === database;
      case 'history_read':
      case 'delete':
      case 'create':
      case 'create_with_id':
      case 'write':
      case 'history_write':
      case 'set_any_password':
      case 'has_rule':
        return false;
      default:
        return unreachable(request);
    }
  };
  return { may };
}
