/** Calls of stored functions. Spec: functions 4.6. */
import { fail, QueryFailure } from '../../errors.ts';
import { any, nameOrFunctionRef, optional, param } from '../casts.ts';
import { COVERED } from '../costs.ts';
import { define } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { positionOf, type QueryPath } from '../query-path.ts';

const call = define(
  'read',
  { call: param(nameOrFunctionRef, 'String or Function Ref'), arguments: optional(any, 'Any') },
  COVERED,
  ({ call: target, arguments: argument = [] }, context) => {
    const { lambda, session } = context.session.functionBody(target, argument, context.path);
    try {
      return context.call(lambda, argument, session);
    } catch (failure) {
      throw failure instanceof QueryFailure ? wrapped(failure, context.path) : failure;
    }
  },
  // Limits in schema definitions are checked before it is known what the function does.
  { declared: 'write' },
);

/** Wraps the faults of a called function in a `call error`, once per level of calls. A stack overflow is not wrapped. */
function wrapped(failure: QueryFailure, path: QueryPath): QueryFailure {
  if (failure.faults.some(({ code }) => code === 'stack overflow')) return failure;
  return fail('call error', positionOf(path), 'Calling the function resulted in an error.', {
    cause: failure.faults,
  });
}

export const callRows: readonly FunctionRow[] = [call];
