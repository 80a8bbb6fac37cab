/** What a set operation is: how its sets are read, and what is known of them before. The table of all is `operations.ts`. */
import type { QueryPath } from '../../query/query-path.ts';
import type { Ref, SetValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { Change } from './changes.ts';
import type { SetCursor, SetRequest, SetTarget } from './set-cursor.ts';

/**
 * One operation. Members are asked through `sets`, which picks their operation: once for each set that is opened, never for an
 * element.
 */
export interface SetOperation<Target extends SetTarget> {
  shape(target: Target, sets: Shapes): SetShape;
  /** Whether all that a page of the set shows is refs: it is likely that their documents are read next. */
  showsRefs(target: Target, sets: Shapes): boolean;
  /** Undefined: denied. */
  access(target: Target, sets: Sets): Access<Target> | undefined;
  /** Members that the caller may not read are empty here: `access` tells which. */
  open(target: Target, request: SetRequest, sets: Sets): SetCursor;
  /** All that is stored, in no order: combined sets need to know what was there before the first event listed. */
  changes(target: Target, request: ChangesRequest, sets: Sets): readonly Change[];
}

/** What is known of a set without reading it. Spec: sets 4, "Shapes". */
export interface SetShape {
  /** Reverse flags of the covered values, then of the ref. Empty: not known before it is read (join by a lambda). */
  readonly reversed: readonly boolean[];
  /** Numbers of covered values that tuples may have; empty: not known. */
  readonly arities: readonly number[];
  /** It lists events. */
  readonly history: boolean;
  /** Its events can be listed, or those it lists. */
  readonly hasHistory: boolean;
}

/** Which part of a set the caller may read. Spec: auth 3.4, 3.5. */
export interface Access<Target extends SetTarget = SetTarget> {
  /** The set without members that may not be read. */
  readonly target: Target;
  /** Each tuple is asked for; one such member makes the whole set so. */
  readonly filtered: boolean;
}

export interface ChangesRequest {
  readonly sources: boolean;
  readonly filtered: boolean;
}

/** What any set tells of itself. */
export interface Shapes {
  readonly schema: EngineContext['schema'];
  shapeOf(target: SetTarget): SetShape;
  showsRefs(target: SetTarget): boolean;
}

/** The form that reads, and the key its set is given under: where faults of reading are reported. */
export interface Reading {
  readonly path: QueryPath;
  readonly key: string;
}

/** Reads any set, for one form. */
export interface Sets extends Shapes {
  readonly context: EngineContext;
  readonly reading: Reading;
  accessTo(target: SetTarget): Access | undefined;
  accessToSet(set: SetValue): Access<SetValue> | undefined;
  /** Faults of what cannot be read are thrown here or by the first pull. */
  open(target: SetTarget, request: SetRequest): SetCursor;
  changesOf(target: SetTarget, request: ChangesRequest): readonly Change[];
}

/** The shape of tuples that all have as many values. */
export const shapeOfTuples = (reversed: readonly boolean[]): SetShape => ({
  reversed,
  arities: reversed.length === 0 ? [] : [reversed.length - 1],
  history: false,
  hasHistory: true,
});

export const REFS: SetShape = shapeOfTuples([false]);

/** The shape of the entries of an index. */
export const shapeOfIndex = ({ schema }: Shapes, ref: Ref): SetShape =>
  shapeOfTuples([...(schema(ref.database).index(ref)?.reverse ?? []), false]);

/** Access to a set over one other: that to the other. */
export function accessToInner<Set extends SetValue & { readonly set: SetValue }>(
  target: Set,
  sets: Sets,
): Access<Set> | undefined {
  const access = sets.accessToSet(target.set);
  return access && { target: { ...target, set: access.target }, filtered: access.filtered };
}
