/** What is known of a set without reading it. Spec: sets 4, "Shapes". */
import { unreachable } from '../../errors.ts';
import type { Ref, SetValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { SetTarget } from './set-cursor.ts';

export interface SetShape {
  /** Reverse flags of the covered values, then of the ref. Empty: not known before it is read (join by a lambda). */
  readonly reversed: readonly boolean[];
  /** It lists events. */
  readonly history: boolean;
  /** Its events can be listed, or those it lists. */
  readonly hasHistory: boolean;
}

const REFS: SetShape = { reversed: [false], history: false, hasHistory: true };

export function shapeOf(context: Pick<EngineContext, 'schema'>, target: SetTarget): SetShape {
  if (target.kind === 'ref') return REFS;
  switch (target.op) {
    case 'match':
      return shapeOfIndex(context, target.index);
    case 'documents':
    case 'singleton':
      return REFS;
    case 'events': {
      const inner = shapeOf(context, target.of);
      return { ...inner, history: true };
    }
    case 'union':
    case 'intersection':
    case 'difference':
      return shapeOfMembers(target.sets.map((set) => shapeOf(context, set)));
    case 'distinct':
      return shapeOf(context, target.set);
    case 'join':
      return shapeOfJoin(context, target);
    case 'filter':
    case 'range':
      return { ...shapeOf(context, target.set), hasHistory: false };
    case 'reverse':
      return { ...reversedShape(shapeOf(context, target.set)), hasHistory: false };
    default:
      return unreachable(target);
  }
}

function shapeOfIndex(context: Pick<EngineContext, 'schema'>, ref: Ref): SetShape {
  const index = context.schema(ref.database).index(ref);
  return { ...REFS, reversed: [...(index?.reverse ?? []), false] };
}

/** As long as the longest member: all agree as far as they go. */
function shapeOfMembers(members: readonly SetShape[]): SetShape {
  const longest = members.reduce(
    (best, each) => (each.reversed.length > best.length ? each.reversed : best),
    members[0]?.reversed ?? [],
  );
  return {
    reversed: longest,
    history: members.some((each) => each.history),
    hasHistory: members.every((each) => each.hasHistory),
  };
}

function shapeOfJoin(
  context: Pick<EngineContext, 'schema'>,
  { set, with: target }: Extract<SetValue, { readonly op: 'join' }>,
): SetShape {
  const { hasHistory } = shapeOf(context, set);
  if (target.kind === 'lambda') return { reversed: [], history: false, hasHistory };
  return { ...shapeOfIndex(context, target), hasHistory };
}

/** Values turn round, the ref is a value of its own when there is none. */
function reversedShape({ reversed, ...rest }: SetShape): SetShape {
  if (reversed.length === 0) return { reversed, ...rest };
  const values = reversed.length === 1 ? reversed : reversed.slice(0, -1);
  return { reversed: [...values.map((each) => !each), false], ...rest };
}

/** Numbers of covered values that tuples of a set may have; empty: not known. */
export function aritiesOf(
  context: Pick<EngineContext, 'schema'>,
  target: SetTarget,
): readonly number[] {
  if (target.kind === 'set') {
    if ('sets' in target) {
      return [...new Set(target.sets.flatMap((set) => aritiesOf(context, set)))];
    }
    if ('set' in target && target.op !== 'join' && target.op !== 'reverse') {
      return aritiesOf(context, target.set);
    }
  }
  const { reversed } = shapeOf(context, target);
  return reversed.length === 0 ? [] : [reversed.length - 1];
}
