/** Sets as the parts they are stored by: `op`, and the rest under the names that `SetValue` has. */
import {
  isArray,
  isKind,
  type ObjectValue,
  type Ref,
  type SetValue,
  type Value,
} from '../values/value.ts';

export function partsOfSet(set: SetValue): ObjectValue {
  const { kind: _, ...parts } = set;
  return new Map<string, Value>(Object.entries(parts));
}

const isSet = (value: Value | undefined): value is SetValue => isKind(value, 'set');
const isRef = (value: Value | undefined): value is Ref => isKind(value, 'ref');
const isValues = (value: Value | undefined): value is readonly Value[] =>
  value !== undefined && isArray(value);

/** Undefined: no set has such parts. */
export function setOfParts(parts: ObjectValue): SetValue | undefined {
  const { op, index, terms, collection, ref, of, sets } = Object.fromEntries(parts);
  switch (op) {
    case 'match':
      return isRef(index) && isValues(terms) ? { kind: 'set', op, index, terms } : undefined;
    case 'documents':
      if (!isRef(collection)) return undefined;
      return { kind: 'set', op, collection, ...(parts.get('native') === true && { native: true }) };
    case 'singleton':
      return isRef(ref) ? { kind: 'set', op, ref } : undefined;
    case 'events':
      return isSet(of) || isRef(of) ? { kind: 'set', op, of } : undefined;
    case 'union':
    case 'intersection':
    case 'difference':
      return isValues(sets) && sets.every(isSet) ? { kind: 'set', op, sets } : undefined;
    default:
      return setOverSet(parts);
  }
}

function setOverSet(parts: ObjectValue): SetValue | undefined {
  const { op, set, lambda, with: other, from, to } = Object.fromEntries(parts);
  if (!isSet(set)) return undefined;
  switch (op) {
    case 'distinct':
    case 'reverse':
      return { kind: 'set', op, set };
    case 'filter':
      return isKind(lambda, 'lambda') ? { kind: 'set', op, set, lambda } : undefined;
    case 'join':
      return isKind(other, 'lambda') || isRef(other)
        ? { kind: 'set', op, set, with: other }
        : undefined;
    case 'range':
      return isValues(from) && isValues(to) ? { kind: 'set', op, set, from, to } : undefined;
    default:
      return undefined;
  }
}
