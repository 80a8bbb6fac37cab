/** Tuples: the members of sets. How they are ordered, compared and shown, and bounds between them. Spec: sets 3, 4. */
import { refBytes } from '../../codec/key.ts';
import { bytesOf } from '../../codec/ordered-bytes.ts';
import { encodeReversed, encodeValue } from '../../codec/ordered.ts';
import { compareScalars } from '../../values/compare.ts';
import { Bytes, Ref } from '../../values/value.ts';
import type { Value } from '../../values/value.ts';
import { isSameRef } from '../catalog/refs.ts';

export interface Tuple {
  /** The covered values. Undefined: the ref itself is the covered value. */
  readonly values: readonly Value[] | undefined;
  readonly ref: Ref;
  /** Ordered bytes of the covered values, in the direction of the set. Equal groups mean equal values. */
  readonly group: string;
  /** Orders tuples with equal groups: bytes of the ref, then the types of numbers. */
  readonly tiebreaker: string;
  /** The bytes of `tiebreaker` are inverted, because the tuple belongs to a reversed set. */
  readonly reversed: boolean;
  /** The sets that the tuple comes from. Empty unless sources are recorded. */
  readonly sources: readonly Value[];
}

/** A tuple as an element of a page. Spec: sets 5.2. */
export function elementOf({ values, ref }: Pick<Tuple, 'values' | 'ref'>): Value {
  if (!values) return ref;
  return values.length === 1 ? (values[0] ?? null) : values;
}

/**
 * The cursor of a tuple: its covered values, then its ref. If the neighbouring tuple on the other side of the cursor has the same values
 * and ref (1 and 1.0 in one document are two tuples), the bytes that distinguish them follow.
 */
export function cursorOf(tuple: Tuple, neighbour?: Tuple): readonly Value[] {
  const { values, ref, reversed } = tuple;
  if (!values) return reversed ? [ref, ref] : [ref];
  const isSameButForTypes = neighbour?.group === tuple.group && isSameRef(neighbour.ref, ref);
  if (!isSameButForTypes) return [...values, ref];
  const tiebreaker = reversed ? encodeReversed(tuple.tiebreaker) : tuple.tiebreaker;
  return [...values, ref, new Bytes(bytesOf(restOf({ ref, tiebreaker })))];
}

/** The part of a tiebreaker after the ref: the bytes that distinguish 1 from 1.0. */
export const restOf = ({ ref, tiebreaker }: Pick<Tuple, 'ref' | 'tiebreaker'>): string =>
  tiebreaker.slice(refBytes(ref).length);

/**
 * A bound between the tuples of a set, in the order of the set. Without `ref`, it is next to all tuples that start with `values`; with
 * `ref`, next to the one tuple with exactly these values and this ref.
 */
export interface Bound {
  readonly values: readonly Value[];
  readonly ref: Ref | undefined;
  /** The part of `tiebreaker` after the ref: selects one of several tuples with these values and this ref. */
  readonly tiebreakerRest?: string;
  /** `low`: before the tuples that the bound names. `high`: after them. */
  readonly side: 'low' | 'high';
}

export const otherSide = (bound: Bound): Bound => ({
  ...bound,
  side: bound.side === 'low' ? 'high' : 'low',
});

/** A bound, encoded for comparison with many tuples. */
export interface OrderedBound {
  readonly group: string;
  readonly tiebreaker: string | undefined;
  readonly side: 'low' | 'high';
}

/** @param reversed direction of each value of the set. Further values ascend */
export function orderBound(
  { values, ref, tiebreakerRest = '', side }: Bound,
  reversed: readonly boolean[],
): OrderedBound {
  let group = '';
  values.forEach((value, i) => {
    const component = encodeValue(value);
    group += reversed[i] ? encodeReversed(component) : component;
  });
  return { group, tiebreaker: ref && refBytes(ref) + tiebreakerRest, side };
}

/** Which of the covered values are in descending order, derived from the bytes of the tuple. */
export function directionsOf({ values, ref, group }: Tuple): readonly boolean[] {
  let at = 0;
  return (values ?? [ref]).map((value) => {
    const component = encodeValue(value);
    const isReversed = !group.startsWith(component, at);
    at += component.length;
    return isReversed;
  });
}

/** Whether the tuple is before the bound. A shorter tuple is before longer ones that start with it. */
export function isBeforeBound(
  { group, tiebreaker, reversed }: Tuple,
  bound: OrderedBound,
): boolean {
  if (bound.tiebreaker === undefined) {
    return group.startsWith(bound.group) ? bound.side === 'high' : group < bound.group;
  }
  const exact = group.endsWith(AFTER_LONGER) ? bound.group + AFTER_LONGER : bound.group;
  if (group !== exact) return group < exact;
  const own = tiebreaker.slice(0, bound.tiebreaker.length);
  const other = reversed ? encodeReversed(bound.tiebreaker) : bound.tiebreaker;
  return own === other ? bound.side === 'high' : own < other;
}

export const compareTuples = (a: Tuple, b: Tuple): number =>
  compareScalars(a.group, b.group) || compareScalars(a.tiebreaker, b.tiebreaker);

/** Appended to the group of a tuple that is after the longer ones that start with it. Greater than all bytes. */
const AFTER_LONGER = '\uffff';

/** The group without this mark. Equal values then have equal groups in all sets of one direction. */
export const unmarked = (group: string): string => group.replace(AFTER_LONGER, '');

/** The tuple as a member of the reversed set. If `longerFirst`, it is after the longer tuples that start with it. */
export const reverseTuple = (tuple: Tuple, longerFirst: boolean | undefined): Tuple => ({
  values: tuple.values,
  ref: tuple.ref,
  group: encodeReversed(unmarked(tuple.group)) + (longerFirst ? AFTER_LONGER : ''),
  tiebreaker: encodeReversed(tuple.tiebreaker),
  reversed: !tuple.reversed,
  sources: tuple.sources,
});

/** The tuple as a member of a set with these directions, in which its ref ascends. */
export function tupleInDirections(tuple: Tuple, reversed: readonly boolean[]): Tuple {
  const { values, ref, sources } = tuple;
  const tiebreaker = tuple.reversed ? encodeReversed(tuple.tiebreaker) : tuple.tiebreaker;
  const { group } = orderBound({ values: values ?? [ref], ref, side: 'low' }, reversed);
  return { values, ref, group, tiebreaker, reversed: false, sources };
}

export const withSources = (tuple: Tuple, sources: readonly Value[]): Tuple => ({
  values: tuple.values,
  ref: tuple.ref,
  group: tuple.group,
  tiebreaker: tuple.tiebreaker,
  reversed: tuple.reversed,
  sources,
});

/** The size of a tuple that is counted when it is shown. */
export const tupleBytes = (tuple: Tuple): number =>
  tuple instanceof RefTuple ? REF_TUPLE_BYTES : tuple.group.length + tuple.tiebreaker.length;

/** A member of a set without covered values. Most are never compared, so their bytes are computed on demand. */
export class RefTuple implements Tuple {
  readonly values = undefined;
  readonly reversed = false;
  readonly ref: Ref;
  readonly sources: readonly Value[];

  constructor(ref: Ref, sources: readonly Value[]) {
    this.ref = ref;
    this.sources = sources;
  }

  get group(): string {
    return encodeValue(this.ref);
  }

  get tiebreaker(): string {
    return refBytes(this.ref);
  }
}

const NO_REF = new Ref(0, 0, 0n);
/** All such tuples have the same length. */
const REF_TUPLE_BYTES = encodeValue(NO_REF).length + refBytes(NO_REF).length;
