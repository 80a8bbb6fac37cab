/** Where the values of variables are while a query runs. */
import { assert, fail } from '../errors.ts';
import { Suspended } from '../store/reader.ts';
import { isArray, type Value } from '../values/value.ts';
import type { NodeOf, Pattern } from './node.ts';
import { positionOf, type QueryPath } from './query-path.ts';

/** What one variable slot holds: a value, or the wait for one (then using it waits too). */
export type Slot = Value | Suspended;

/** Variables of one `let` or one application of a lambda. */
export class Frame {
  readonly slots: readonly Slot[];
  readonly parent: Frame | undefined;
  /** Lambdas and functions being applied around it. */
  readonly depth: number;
  constructor(slots: readonly Slot[], parent: Frame | undefined, depth: number) {
    this.slots = slots;
    this.parent = parent;
    this.depth = depth;
  }
}

export function frameAbove(frame: Frame, up: number): Frame {
  let found = frame;
  for (let left = up; left > 0; left -= 1) {
    const { parent } = found;
    assert(parent, () => 'a variable has no frame');
    found = parent;
  }
  return found;
}

/** Outside of every `let` and lambda. */
export const ROOT = new Frame([], undefined, 0);

export function variableValue({ variable }: NodeOf<'var'>, frame: Frame): Value {
  const { up, index } = variable;
  const value = frameAbove(frame, up).slots[index];
  if (value instanceof Suspended) throw value;
  return value ?? null;
}

/** What the variables of a lambda are when it is applied. */
export function bind(pattern: Pattern, argument: Value, path: QueryPath): readonly Slot[] {
  if (typeof pattern === 'string') return [argument];
  if (isArray(argument) && argument.length === pattern.length) return argument;
  if (!isArray(argument) && pattern.length === 1) return [argument];
  const count = isArray(argument) ? argument.length : 1;
  return fail(
    'invalid argument',
    positionOf(path, 'lambda'),
    `Lambda expects an array with ${pattern.length} elements. Array contains ${count}.`,
  );
}
