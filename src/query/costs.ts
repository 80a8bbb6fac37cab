/**
 * The costs of calls, in units of work. A unit is about a nanosecond of a simple loop. A cost is that of the worst
 * values of its size. It is a whole number, because other numbers are slow to pass on. A call that costs more than
 * `LIMITS.callWork` is refused.
 */
import { LIMITS } from '../limits.ts';
import { isArray, isKind, isObject, type Page, type Value } from '../values/value.ts';
import type { PureContext } from './define.ts';

/** Work that the evaluation step of a call covers. A smaller cost is not charged. */
export const STEP_WORK = 1_000;
/** The evaluation step covers all work of the call. */
export const COVERED = 0;
/** The function body charges for each part, or for each element of a set, when it reaches it. */
export const BY_PARTS = 0;

/** A function whose result is computed with large integers (`nearest-double.ts`). */
export const NEAREST_DOUBLE = 10_000;

/** Characters that are copied, or compared one by one. */
export const copying = (chars: number): number => chars * 2;

/** Characters that the JavaScript engine reads. */
export const scanning = (chars: number): number => chars * 5;

/** Characters that our code reads, or that the JavaScript engine changes. */
export const reading = (chars: number): number => chars * 30;

/** Texts that are split into their characters. */
export const splitting = (chars: number): number => chars * 200;

/** The fixed cost of a read of documents or sets, or of a write. The cost of their content comes on top. */
export const READ = 5_000;
export const WRITE = 20_000;

/** Elements that are copied. */
export const elements = (count: number): number => count * 20;

/** For longer search texts, the time of a search also grows with their length. */
const NEEDLE_CHARS = 200;

export const seeking = (chars: number, needle: number): number =>
  needle > NEEDLE_CHARS ? chars * (5 + (needle >> 1)) : scanning(chars);

/** A value that is traversed completely. */
export function walking(value: Value, context: Pick<PureContext, 'session'>): number {
  if (typeof value === 'string') return scanning(value.length);
  if (typeof value !== 'object' || value === null) return COVERED;
  return context.session.memory.weightOf(value) * 10;
}

export function walkingAll(values: readonly Value[], context: PureContext): number {
  let units = 0;
  for (const value of values) units += walking(value, context);
  return units;
}

/** A slice of an array, or of a page with its cursors. */
export const slicing = (collection: readonly Value[] | Page): number =>
  isArray(collection) ? elements(collection.length) : collection.data.length * 1_000;

const membersOf = (value: Value): number => {
  if (isObject(value)) return value.size;
  return isKind(value, 'document') ? value.fields.size : 0;
};

/** The conversion of an object to an array, or of an array to an object. */
export const converting = (value: Value): number =>
  isArray(value) ? value.length * 500 : membersOf(value) * 250;

/**
 * Objects that are merged into a new one, which is then weighed with its content. For large objects the cost per member
 * grows, because most members are not in the processor's cache.
 */
export function merging(values: readonly Value[], context: PureContext): number {
  let size = 0;
  let units = values.length * 100;
  for (const each of values) {
    size += membersOf(each);
    units += context.session.memory.weightOf(each) >> 1;
  }
  return units + size * (70 + (size >> 9));
}

/** The search for a value among the parts of another value. Comparing two values takes no longer than traversing either. */
export function comparing(value: Value, container: Value, context: PureContext): number {
  const units = walking(value, context);
  const all = units + 3 * walking(container, context);
  return isArray(container) ? Math.min(all, container.length * (130 + units)) : all;
}

/** Sets whose parts are examined for the order of their elements. */
export function shaping(sets: readonly Value[], context: PureContext): number {
  let units = elements(sets.length);
  for (const set of sets) if (!isArray(set)) units += context.session.memory.weightOf(set) * 2;
  return units;
}

/** A number or time that is parsed from a text. */
export const parsing = (value: Value): number =>
  typeof value === 'string' ? value.length * 1_000 : COVERED;

/** The cost of a write is limited to `LIMITS.callWork`, so that no document that may be stored is refused for its cost. */
export const writing = (params: Value | undefined, context: PureContext): number =>
  Math.min(WRITE + 2 * walking(params ?? null, context), LIMITS.callWork);
