/** Cursors and range bounds of sets: arrays of values that name a place between tuples. Spec: sets 5.3. */
import { rawOf } from '../../codec/ordered-bytes.ts';
import { fault, QueryFailure, type Step } from '../../errors.ts';
import { compareValues } from '../../values/compare.ts';
import { Bytes, isArray, Ref, UnresolvedRef, type Value } from '../../values/value.ts';
import type { Cut } from './tuple.ts';

/** The cursor as a page shows it again: always an array. */
export const asArray = (value: Value): readonly Value[] => (isArray(value) ? value : [value]);

/** @throws `invalid ref` at `position` for refs to what does not exist */
export function refuseUnresolved(values: readonly Value[], position: readonly Step[]): void {
  const faults = values
    .filter((value) => value instanceof UnresolvedRef)
    .map((ref) =>
      fault('invalid ref', position, `Ref refers to undefined ${ref.what} '${ref.name}'`),
    );
  if (faults.length > 0) throw new QueryFailure(faults);
}

/**
 * The place before everything a cursor names. Undefined: the start of the set.
 * @param arities numbers of covered values the tuples of the set may have; empty: not known
 */
export const cutOf = (given: readonly Value[], arities: readonly number[]): Cut | undefined =>
  placeOf(given, arities)?.cut;

/** The place after everything a bound names: bounds of ranges are inclusive. Undefined: the end of the set. */
export function cutAfter(given: readonly Value[], arities: readonly number[]): Cut | undefined {
  const place = placeOf(given, arities);
  return place?.names ? { ...place.cut, side: 'high' } : place?.cut;
}

/** `names`: the cut stands beside what was named, not between others. */
function placeOf(
  given: readonly Value[],
  arities: readonly number[],
): { readonly cut: Cut; readonly names: boolean } | undefined {
  const ref = given.at(-2);
  const twin = given.at(-1);
  if (ref instanceof Ref && twin instanceof Bytes && arities.includes(given.length - 2)) {
    const cut = { values: given.slice(0, -2), ref, twin: rawOf(twin.bytes), side: 'low' } as const;
    return { cut, names: true };
  }
  const most = arities.length > 0 ? Math.max(...arities) : given.length;
  const values = given.slice(0, most + 1);
  const last = values.at(-1);
  if (last === undefined) return undefined;
  const rest = values.slice(0, -1);
  const isWhole = arities.length === 0 || arities.includes(rest.length);
  if (last instanceof Ref && rest.length > 0 && isWhole) {
    return { cut: { values: rest, ref: last, side: 'low' }, names: true };
  }
  if (values.length <= Math.max(1, most)) {
    return { cut: { values, ref: undefined, side: 'low' }, names: true };
  }
  // Where the ref stands, another value compares as a value with refs.
  const side = compareValues(last, ANY_REF) < 0 ? 'low' : 'high';
  return { cut: { values: rest, ref: undefined, side }, names: false };
}

const ANY_REF = new Ref(0, 0, 0n);
