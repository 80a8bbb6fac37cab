/** Cursors and range bounds of sets: arrays of values that denote a bound between tuples. Spec: sets 5.3. */
import { rawOf } from '../../codec/ordered-bytes.ts';
import { fault, QueryFailure, type Step } from '../../errors.ts';
import { undefinedRef } from '../../fault-texts.ts';
import { compareValues } from '../../values/compare.ts';
import { Bytes, Ref, UnresolvedRef, type Value } from '../../values/value.ts';
import type { Bound } from './tuple.ts';

/** @throws QueryFailure `invalid ref` at `position` for refs to objects that do not exist */
export function refuseUnresolved(values: readonly Value[], position: readonly Step[]): void {
  const faults = values
    .filter((value) => value instanceof UnresolvedRef)
    .map((ref) => fault('invalid ref', position, undefinedRef(ref.what, ref.name)));
  if (faults.length > 0) throw new QueryFailure(faults);
}

/**
 * The bound before all tuples that a cursor names. Undefined: the start of the set.
 * @param arities possible numbers of covered values of the set's tuples. Empty: not known
 */
export const boundOf = (given: readonly Value[], arities: readonly number[]): Bound | undefined =>
  locate(given, arities)?.bound;

/** The bound after all tuples that `given` names, because bounds of ranges are inclusive. Undefined: the end of the set. */
export function boundAfter(given: readonly Value[], arities: readonly number[]): Bound | undefined {
  const located = locate(given, arities);
  return located?.names ? { ...located.bound, side: 'high' } : located?.bound;
}

/** `names`: whether the values denote a tuple next to the bound. Otherwise the bound lies between two others. */
function locate(
  given: readonly Value[],
  arities: readonly number[],
): { readonly bound: Bound; readonly names: boolean } | undefined {
  const ref = given.at(-2);
  const tiebreakerRest = given.at(-1);
  if (ref instanceof Ref && tiebreakerRest instanceof Bytes && arities.includes(given.length - 2)) {
    const bound = {
      values: given.slice(0, -2),
      ref,
      tiebreakerRest: rawOf(tiebreakerRest.bytes),
      side: 'low',
    } as const;
    return { bound, names: true };
  }
  const most = arities.length > 0 ? Math.max(...arities) : given.length;
  const values = given.slice(0, most + 1);
  const last = values.at(-1);
  if (last === undefined) return undefined;
  const rest = values.slice(0, -1);
  const isWhole = arities.length === 0 || arities.includes(rest.length);
  if (last instanceof Ref && rest.length > 0 && isWhole) {
    return { bound: { values: rest, ref: last, side: 'low' }, names: true };
  }
  if (values.length <= Math.max(1, most)) {
    return { bound: { values, ref: undefined, side: 'low' }, names: true };
  }
  // A value in the position of the ref that is not a ref is ordered among refs by its type.
  const side = compareValues(last, ANY_REF) < 0 ? 'low' : 'high';
  return { bound: { values: rest, ref: undefined, side }, names: false };
}

const ANY_REF = new Ref(0, 0, 0n);
