/**
 * What calls cost, in units of work: a unit is about a nanosecond of a simple loop. A cost is what the worst values of its size take, as a
 * whole number: others are slow to hand over. What costs more than `LIMITS.callWork` is refused.
 */
import { LIMITS } from '../limits.ts';
import { isArray, isKind, isObject, type Page, type Value } from '../values/value.ts';
import type { PureContext } from './define.ts';

/** What the step of a call covers: less is not spent. */
export const STEP_WORK = 1_000;
/** The step of the call covers all that it does. */
export const COVERED = 0;
/** The body spends for each part, or element of a set, when it comes to it. */
export const BY_PARTS = 0;

/** Characters copied, or compared one by one. */
export const copying = (chars: number): number => chars * 2;

/** Characters looked at by the platform. */
export const scanning = (chars: number): number => chars * 5;

/** Characters looked at by us, or changed by the platform. */
export const reading = (chars: number): number => chars * 30;

/** Texts taken apart into their characters. */
export const splitting = (chars: number): number => chars * 200;

/** A read of documents or sets begins, or a write: beside what is in them. */
export const READ = 5_000;
export const WRITE = 20_000;

/** Elements copied. */
export const elements = (count: number): number => count * 20;

/** Longer texts are sought in time that grows with their length, too. */
const NEEDLE_CHARS = 200;

export const seeking = (chars: number, needle: number): number =>
  needle > NEEDLE_CHARS ? chars * (5 + (needle >> 1)) : scanning(chars);

/** A value walked in whole. */
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

/** Parts of an array, or of a page with its cursors. */
export const slicing = (collection: readonly Value[] | Page): number =>
  isArray(collection) ? elements(collection.length) : collection.data.length * 1_000;

const membersOf = (value: Value): number => {
  if (isObject(value)) return value.size;
  return isKind(value, 'document') ? value.fields.size : 0;
};

/** An object or array made of the other. */
export const converting = (value: Value): number =>
  isArray(value) ? value.length * 500 : membersOf(value) * 250;

/** Objects put into a new one, which is weighed with all that is in it. Of large ones most is in no cache of the processor. */
export function merging(values: readonly Value[], context: PureContext): number {
  let size = 0;
  let units = values.length * 100;
  for (const each of values) {
    size += membersOf(each);
    units += context.session.memory.weightOf(each) >> 1;
  }
  return units + size * (70 + (size >> 9));
}

/** A value sought among the parts of another: comparing two takes no longer than walking either. */
export function comparing(value: Value, container: Value, context: PureContext): number {
  const units = walking(value, context);
  const all = units + 3 * walking(container, context);
  return isArray(container) ? Math.min(all, container.length * (130 + units)) : all;
}

/** Sets whose parts are looked at, for the order of their elements. */
export function shaping(sets: readonly Value[], context: PureContext): number {
  let units = elements(sets.length);
  for (const set of sets) if (!isArray(set)) units += context.session.memory.weightOf(set) * 2;
  return units;
}

/** A number or time read out of a text. */
export const parsing = (value: Value): number =>
  typeof value === 'string' ? value.length * 1_000 : COVERED;

/** No document that may be stored is refused for its work. */
export const writing = (params: Value | undefined, context: PureContext): number =>
  Math.min(WRITE + 2 * walking(params ?? null, context), LIMITS.callWork);
