/** Members of sets as they are ordered, compared and shown; and places between them. Spec: sets 3, 4. */
import { refBytes } from '../../codec/key.ts';
import { bytesOf } from '../../codec/ordered-bytes.ts';
import { encodeReversed, encodeValue } from '../../codec/ordered.ts';
import { Bytes } from '../../values/value.ts';
import type { Ref, Value } from '../../values/value.ts';
import { isSameRef } from '../catalog/refs.ts';

export interface Tuple {
  /** Covered values; undefined: the ref itself is the covered value. */
  readonly values: readonly Value[] | undefined;
  readonly ref: Ref;
  /** Ordered bytes of the covered values, in the direction of the set. Equal groups are the same value. */
  readonly group: string;
  /** Orders equal groups: bytes of the ref, then types of numbers. */
  readonly tie: string;
  /** The bytes of `tie` are flipped: the set is read backwards. */
  readonly reversed: boolean;
  /** Sets it comes from; empty unless asked for. */
  readonly sources: readonly Value[];
}

/** What a page shows of a tuple. Spec: sets 5.2. */
export function elementOf({ values, ref }: Pick<Tuple, 'values' | 'ref'>): Value {
  if (!values) return ref;
  return values.length === 1 ? (values[0] ?? null) : values;
}

/**
 * The cursor of a tuple: covered values, then the ref. Where that names its neighbour on the other side of the cursor too (1 and 1.0
 * of one document are two tuples), what sets them apart follows.
 */
export function cursorOf(tuple: Tuple, neighbour?: Tuple): readonly Value[] {
  const { values, ref, reversed } = tuple;
  if (!values) return reversed ? [ref, ref] : [ref];
  const isTwin = neighbour?.group === tuple.group && isSameRef(neighbour.ref, ref);
  if (!isTwin) return [...values, ref];
  const tie = reversed ? encodeReversed(tuple.tie) : tuple.tie;
  return [...values, ref, new Bytes(bytesOf(tie.slice(refBytes(ref).length)))];
}

/**
 * A place between the tuples of a set, in the order of the set. Without `ref`: beside all tuples that start with `values`;
 * with `ref`: beside the one tuple of exactly these values.
 */
export interface Cut {
  readonly values: readonly Value[];
  readonly ref: Ref | undefined;
  /** Of several tuples with these values and this ref, the one whose `tie` goes on like this. */
  readonly twin?: string;
  /** `low`: before what it names, `high`: after it. */
  readonly side: 'low' | 'high';
}

export const otherSide = (cut: Cut): Cut => ({ ...cut, side: cut.side === 'low' ? 'high' : 'low' });

/** A cut ready to be compared with many tuples. */
export interface OrderedCut {
  readonly group: string;
  readonly tie: string | undefined;
  readonly side: 'low' | 'high';
}

/** @param reversed direction of each value of the set; ascending past its end */
export function orderCut(
  { values, ref, twin = '', side }: Cut,
  reversed: readonly boolean[],
): OrderedCut {
  let group = '';
  values.forEach((value, i) => {
    const component = encodeValue(value);
    group += reversed[i] ? encodeReversed(component) : component;
  });
  return { group, tie: ref && refBytes(ref) + twin, side };
}

/** Whether the tuple stands before the cut. Shorter tuples stand before longer ones that start with them. */
export function isBeforeCut({ group, tie, reversed }: Tuple, cut: OrderedCut): boolean {
  if (cut.tie === undefined) {
    return group.startsWith(cut.group) ? cut.side === 'high' : group < cut.group;
  }
  if (group !== cut.group) return group < cut.group;
  const own = tie.slice(0, cut.tie.length);
  const other = reversed ? encodeReversed(cut.tie) : cut.tie;
  return own === other ? cut.side === 'high' : own < other;
}

export const compareTuples = (a: Tuple, b: Tuple): number =>
  a.group < b.group ? -1 : a.group > b.group ? 1 : a.tie < b.tie ? -1 : a.tie > b.tie ? 1 : 0;

/** The tuple as a member of the set read backwards. */
export const reverseTuple = (tuple: Tuple): Tuple => ({
  values: tuple.values,
  ref: tuple.ref,
  group: encodeReversed(tuple.group),
  tie: encodeReversed(tuple.tie),
  reversed: !tuple.reversed,
  sources: tuple.sources,
});

export const withSources = (tuple: Tuple, sources: readonly Value[]): Tuple => ({
  values: tuple.values,
  ref: tuple.ref,
  group: tuple.group,
  tie: tuple.tie,
  reversed: tuple.reversed,
  sources,
});

/** A member of a set whose values are its refs. Most are never compared: their bytes are made when asked for. */
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

  get tie(): string {
    return refBytes(this.ref);
  }
}
