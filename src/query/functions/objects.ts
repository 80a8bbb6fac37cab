/** `merge` and conversions between objects and arrays of pairs. Spec: functions 1.9. */
import { fault, QueryFailure, type Fault } from '../../errors.ts';
import { typeExpected, cannotCast } from '../../fault-texts.ts';
import { documentMembers } from '../../values/object-view.ts';
import { typeName } from '../../values/type-name.ts';
import { isArray, isKind, isObject } from '../../values/value.ts';
import type { ObjectValue, Value } from '../../values/value.ts';
import { arrayWeight } from '../../values/weight.ts';
import { any, optionalInPlace, param, refuseArgument } from '../casts.ts';
import { converting, COVERED, merging } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { failWhenFull } from '../parsed.ts';
import { positionOf } from '../query-path.ts';

/** The members of an object, or those of a document as an object. */
function membersOf(value: Value): ObjectValue | undefined {
  if (isObject(value)) return value;
  return isKind(value, 'document') ? documentMembers(value) : undefined;
}

const merge = define(
  'pure',
  { merge: param(any, 'Object'), with: param(any, 'Object*'), lambda: optionalInPlace },
  (args, context) => merging([args.merge].concat(args.with), context),
  (args, context) => {
    const [left, rights] = operands(args.merge, args.with, context);
    const merged = new Map(left);
    const put = (key: string, value: Value): void => {
      if (value === null) merged.delete(key);
      else merged.set(key, value);
    };
    const { lambda } = args;
    if (lambda) {
      const pairs = rights.flatMap((right) => [...right]);
      context.each(pairs, ([key, right]) =>
        put(key, context.apply(lambda, [key, merged.get(key) ?? null, right])),
      );
    } else for (const right of rights) for (const [key, value] of right) put(key, value);
    return merged;
  },
);

/** Returns the operands as objects. Every operand that is not an object is reported. */
function operands(
  left: Value,
  right: Value,
  { path }: PureContext,
): readonly [ObjectValue, readonly ObjectValue[]] {
  const faults: Fault[] = [];
  const operand = (value: Value, ...steps: readonly (string | number)[]): ObjectValue => {
    const members = membersOf(value);
    if (members) return members;
    const text = typeExpected('Object', typeName(value));
    faults.push(fault('invalid argument', positionOf(path, ...steps), text));
    failWhenFull(faults);
    return new Map();
  };
  const first = operand(left, 'merge');
  const rest = isArray(right)
    ? right.map((value, index) => operand(value, 'with', index))
    : [operand(right, 'with')];
  if (faults.length > 0) throw new QueryFailure(faults);
  return [first, rest];
}

const toObject = define(
  'pure',
  { to_object: param(any, 'Any') },
  ({ to_object: value }) => converting(value),
  ({ to_object: value }, context) => {
    const members = membersOf(value);
    if (members) return members;
    return isArray(value)
      ? objectOf(value, context)
      : refuseCast(value, 'to_object', 'Object', context);
  },
);

const refuseCast = (value: Value, key: string, type: string, context: PureContext): never =>
  refuseArgument(context, key, cannotCast(typeName(value), type));

function objectOf(pairs: readonly Value[], { path }: PureContext): ObjectValue {
  const faults: Fault[] = [];
  const members = new Map<string, Value>();
  pairs.forEach((pair, index) => {
    const [key, value, ...rest] = isArray(pair) ? pair : [];
    if (typeof key === 'string' && value !== undefined && rest.length === 0) {
      members.set(key, value);
      return;
    }
    const text = typeExpected('Field/Value', typeName(pair));
    faults.push(fault('invalid argument', positionOf(path, 'to_object', index), text));
    failWhenFull(faults);
  });
  if (faults.length > 0) throw new QueryFailure(faults);
  return members;
}

const toArray = define(
  'pure',
  { to_array: param(any, 'Any') },
  ({ to_array: value }) => (isArray(value) ? COVERED : converting(value)),
  ({ to_array: value }, context) => {
    if (isArray(value)) return value;
    const members = membersOf(value);
    if (!members) return refuseCast(value, 'to_array', 'Array', context);
    context.session.memory.take(members.size * arrayWeight(2));
    return [...members];
  },
);

export const objectRows: readonly FunctionRow[] = [merge, toObject, toArray];
