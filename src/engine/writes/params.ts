/** Checks the refs in the params of a write, before any other check. Spec: functions 1.5, first note. */
import { fail, type FieldFailure, type Step } from '../../errors.ts';
import { DATA_NOT_VALID } from '../../fault-texts.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import { isArray, isKind, isObject } from '../../values/value.ts';
import type { ObjectValue, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { SCHEMA_COLLECTIONS } from '../catalog/refs.ts';

/** @throws QueryFailure `validation failed` at the form, with a failure for each ref that is undefined, scoped, or unreadable */
export function requireReadableRefs(
  context: EngineContext,
  params: ObjectValue,
  queryPath: QueryPath,
): void {
  if (!hasRefs(params)) return;
  const failures: FieldFailure[] = [];
  const start = positionOf(queryPath);
  const look = (value: Value, path: readonly Step[]): void => {
    if (isArray(value)) value.forEach((each, i) => look(each, [...path, i]));
    else if (isObject(value)) for (const [name, each] of value) look(each, [...path, name]);
    else {
      const reason = faultOfRef(context, value);
      if (reason === undefined) return;
      failures.push({
        field: [...start, ...path].map(String),
        code: 'invalid reference',
        description: reason,
      });
    }
  };
  look(params, []);
  if (failures.length > 0) failValidation(failures, start);
}

/** Whether there is any ref. Most params have none, so this check does not build paths. */
function hasRefs(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isArray(value)) return value.some(hasRefs);
  if (!isObject(value)) return value.kind === 'ref' || value.kind === 'unresolved';
  for (const each of value.values()) if (hasRefs(each)) return true;
  return false;
}

function faultOfRef(context: EngineContext, value: Value): string | undefined {
  if (isKind(value, 'unresolved')) return 'Cannot read reference.';
  if (!isKind(value, 'ref')) return undefined;
  if (value.database !== context.database) return 'Reference cannot be scoped.';
  if (!SCHEMA_COLLECTIONS.has(value.collection)) return undefined;
  const isReadable = context.permissions.may({ action: 'read', ref: value });
  return isReadable ? undefined : 'Cannot read reference.';
}

export const failValidation = (
  failures: readonly FieldFailure[],
  position: readonly Step[],
): never => fail('validation failed', position, DATA_NOT_VALID, { failures });
