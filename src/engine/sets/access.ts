/** Which parts of a set the caller may read. Spec: auth 3.4, 3.5. */
import { unreachable } from '../../errors.ts';
import type { SetValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { indexOfSet, type Reading } from './open-set.ts';
import type { SetTarget } from './set-cursor.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

export interface Access<T extends SetTarget = SetTarget> {
  /** The set without members that may not be read. */
  readonly target: T;
  /** Each tuple is asked for; one such member makes the whole set so. */
  readonly filtered: boolean;
}

/** Undefined: denied. */
export function accessTo(
  context: EngineContext,
  target: SetTarget,
  reading: Reading,
): Access | undefined {
  if (target.kind === 'set') return accessToSet(context, target, reading);
  const { permissions } = context;
  if (!isNativeCollectionRef(target)) {
    const isAllowed = permissions.may({ action: 'history_read', ref: target });
    return isAllowed ? { target, filtered: false } : undefined;
  }
  if (!permissions.may({ action: 'read', ref: target })) return undefined;
  const isOpen = permissions.may({ action: 'read_all_of_collection', collection: target });
  return { target, filtered: !isOpen };
}

function accessToSet(
  context: EngineContext,
  set: SetValue,
  reading: Reading,
): Access<SetValue> | undefined {
  const { permissions } = context;
  switch (set.op) {
    case 'match': {
      const index = indexOfSet(context, set.index, reading);
      const { terms } = set;
      if (!permissions.may({ action: 'read_index', index, terms })) return undefined;
      return {
        target: set,
        filtered: !permissions.may({ action: 'read_all_of_index', index, terms }),
      };
    }
    case 'documents': {
      const { collection, native = false } = set;
      if (native && !permissions.may({ action: 'read', ref: collection })) return undefined;
      const isOpen = permissions.may({ action: 'read_all_of_collection', collection });
      return { target: set, filtered: !isOpen };
    }
    case 'singleton':
      return { target: set, filtered: false };
    case 'events': {
      const access = accessTo(context, set.of, reading);
      return access && { target: { ...set, of: access.target }, filtered: access.filtered };
    }
    case 'union':
    case 'intersection':
    case 'difference':
      return accessToMembers(context, set, reading);
    case 'distinct':
    case 'reverse':
    case 'filter':
    case 'range':
    case 'join': {
      const access = accessToSet(context, set.set, reading);
      return access && { target: { ...set, set: access.target }, filtered: access.filtered };
    }
    default:
      return unreachable(set);
  }
}

function accessToMembers(
  context: EngineContext,
  set: Extract<SetValue, { readonly sets: readonly SetValue[] }>,
  reading: Reading,
): Access<SetValue> | undefined {
  const members = set.sets.map((each) => accessToSet(context, each, reading));
  const readable = members.filter((each) => each !== undefined);
  if (set.sets.length === 0) return { target: set, filtered: false };
  if (readable.length === 0 || (set.op === 'difference' && !members[0])) return undefined;
  return {
    target: { ...set, sets: readable.map((each) => each.target) },
    filtered: readable.some((each) => each.filtered),
  };
}
