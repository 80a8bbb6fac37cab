/** Members of sets: how they are ordered, compared and shown; and bounds between them. Spec: sets 3, 4. */
import { refBytes } from '../../codec/key.ts';
import { bytesOf } from '../../codec/ordered-bytes.ts';
import { encodeReversed, encodeValue } from '../../codec/ordered.ts';
import { compareScalars } from '../../values/compare.ts';
import { Bytes, Ref } from '../../values/value.ts';
import type { Value } from '../../values/value.ts';
import { isSameRef } from '../catalog/refs.ts';

export interface Tuple {
  /** Covered values; undefined: the ref itself is the covered value. */
  readonly values: readonly Value[] | undefined;
  readonly ref: Ref;
  /** Ordered bytes of the covered values, in the direction of the set. Equal groups are the same value. */
  readonly group: string;
  /** Orders equal groups: bytes of the ref, then types of numbers. */
  readonly tiebreaker: string;
  /** The bytes of `tiebreaker` are inverted: the set is read backwards. */
  readonly reversed: boolean;
  /** Sets it comes from; empty unless sources are recorded. */
  readonly sources: readonly Value[];
}

/** A tuple as an element of a page. Spec: sets 5.2. */
export function elementOf({ values, ref }: Pick<Tuple, 'values' | 'ref'>): Value {
  if (!values) return ref;
  return values.length === 1 ? (values[0] ?? null) : values;
}

/**
 * The cursor of a tuple: covered values, then the ref. If its neighbour on the other side of the cursor has the same
 * ones (1 and 1.0 of one document are two tuples), the bytes that distinguish them follow.
 */
export function cursorOf(tuple: Tuple, neighbour?: Tuple): readonly Value[] {
  const { values, ref, reversed } = tuple;
  if (!values) return reversed ? [ref, ref] : [ref];
  const isSameButForTypes = neighbour?.group === tuple.group && isSameRef(neighbour.ref, ref);
  if (!isSameButForTypes) return [...values, ref];
  const tiebreaker = reversed ? encodeReversed(tuple.tiebreaker) : tuple.tiebreaker;
  return [...values, ref, new Bytes(bytesOf(restOf({ ref, tiebreaker })))];
}

/** The bytes that distinguish 1 from 1.0: what of a tiebreaker follows the ref. */
export const restOf = ({ ref, tiebreaker }: Pick<Tuple, 'ref' | 'tiebreaker'>): string =>
  tiebreaker.slice(refBytes(ref).length);

/**
 * A bound between the tuples of a set, in the order of the set. Without `ref`: next to all tuples that start with `values`;
 * with `ref`: next to the one tuple of exactly these values.
 */
export interface Bound {
  readonly values: readonly Value[];
  readonly ref: Ref | undefined;
  /** The rest of `tiebreaker` after the ref: chooses among tuples with these values and this ref. */
  readonly tiebreakerRest?: string;
  /** `low`: before what it names, `high`: after it. */
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

/** @param reversed direction of each value of the set; ascending past its end */
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

/** Which of the covered values are in descending order, as the bytes of the tuple tell. */
export function directionsOf({ values, ref, group }: Tuple): readonly boolean[] {
  let at = 0;
  return (values ?? [ref]).map((value) => {
    const component = encodeValue(value);
    const isReversed = !group.startsWith(component, at);
    at += component.length;
    return isReversed;
  });
}

/** Whether the tuple is before the bound. Shorter tuples are before longer ones that start with them. */
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

/** Ends a group that is after the longer ones that start with it: above all bytes. */
const AFTER_LONGER = '\uffff';

/** The group without the mark: equal values have equal groups in all sets of one direction. */
export const unmarked = (group: string): string => group.replace(AFTER_LONGER, '');

/** The tuple as a member of the reversed set, in which it is after longer ones if `longerFirst`. */
export const reverseTuple = (tuple: Tuple, longerFirst: boolean | undefined): Tuple => ({
  values: tuple.values,
  ref: tuple.ref,
  group: encodeReversed(unmarked(tuple.group)) + (longerFirst ? AFTER_LONGER : ''),
  tiebreaker: encodeReversed(tuple.tiebreaker),
  reversed: !tuple.reversed,
  sources: tuple.sources,
});

/** The tuple as a member of a set with these directions; its ref ascends. */
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

/** Bytes of a tuple, as they count when it is shown. */
export const tupleBytes = (tuple: Tuple): number =>
  tuple instanceof RefTuple ? REF_TUPLE_BYTES : tuple.group.length + tuple.tiebreaker.length;

/** A member of a set without covered values. Most are never compared, so their bytes are made on demand. */
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
/** All are of one length. */
const REF_TUPLE_BYTES = encodeValue(NO_REF).length + refBytes(NO_REF).length;
