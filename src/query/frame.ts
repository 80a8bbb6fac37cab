/** Frames hold the values of variables while a query runs. */
import { assert, fail } from '../errors.ts';
import { Suspended } from '../store/reader.ts';
import { isArray, type Value } from '../values/value.ts';
import type { NodeOf, Pattern } from './node.ts';
import { positionOf, type QueryPath } from './query-path.ts';

/** The content of a variable's slot: a value, or `Suspended` if the value is missing. Using the variable then throws it. */
export type Slot = Value | Suspended;

/** The variables of one `let` or of one application of a lambda. */
export class Frame {
  readonly slots: readonly Slot[];
  readonly parent: Frame | undefined;
  /** Nesting of the lambdas and functions being applied around the frame. */
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

/** The frame outside of every `let` and lambda. */
export const ROOT = new Frame([], undefined, 0);

export function variableValue({ variable }: NodeOf<'var'>, frame: Frame): Value {
  const { up, index } = variable;
  const value = frameAbove(frame, up).slots[index];
  if (value instanceof Suspended) throw value;
  return value ?? null;
}

/** The values of a lambda's parameters when it is applied. */
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
