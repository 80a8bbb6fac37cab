/**
 * What each set operation defines beside its parts: how its sets are read, and what is known of them before. All are listed in
 * `operation-table.ts`.
 */
import type { QueryPath } from '../../query/query-path.ts';
import type { Ref, SetOf, SetValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { EventWindow } from '../documents/document-events.ts';
import type { Change } from './changes.ts';
import type { SetCursor, SetRequest, SetTarget } from './set-cursor.ts';

/**
 * One operation. Members are read through `sets`, which looks up their operation: once for each set that is opened,
 * never per element.
 */
export interface SetOperation<Target extends SetTarget> {
  shape(target: Target, sets: Shapes): SetShape;
  /** Whether pages of the set contain only refs: their documents are likely to be read next. */
  showsRefs(target: Target, sets: Shapes): boolean;
  /** Undefined: denied. */
  access(target: Target, sets: Sets): Access<Target> | undefined;
  /** A set that the caller may not read is opened as an empty one: `access` decides whether that is an error. */
  open(target: Target, request: SetRequest, sets: Sets): SetCursor;
  /** All stored changes, unordered: a combined set needs those before the first listed event, too. */
  changes(target: Target, request: ChangesRequest, sets: Sets): readonly Change[];
}

/** What is known of a set without reading it. Spec: sets 4, "Shapes". */
export interface SetShape {
  /**
   * Reverse flags of the covered values, then of the ref. Empty: not known before the set is read (join by a lambda).
   */
  readonly reversed: readonly boolean[];
  /** How many covered values a tuple may have; empty: not known. */
  readonly arities: readonly number[];
  /** Read backwards, a tuple is after the longer ones that start with it. */
  readonly longerFirst?: boolean;
  /** It is a set of events. */
  readonly history: boolean;
  /** Its history can be listed, or it is a history. */
  readonly hasHistory: boolean;
}

/** Which part of a set the caller may read. Spec: auth 3.4, 3.5. */
export interface Access<Target extends SetTarget = SetTarget> {
  /** The set without members that may not be read. */
  readonly target: Target;
  /** The permission is checked for each tuple: so if one member of the set needs it. */
  readonly filtered: boolean;
}

export interface ChangesRequest {
  readonly sources: boolean;
  readonly filtered: boolean;
  /** For a set made of this one: when it holds its tuples counts, which may differ from the events that it lists. */
  readonly asMember: boolean;
  /** Of a document's own history: no others are wanted. */
  readonly window?: EventWindow | undefined;
}

/** What is known of sets by their definitions alone. */
export interface Shapes {
  readonly schema: EngineContext['schema'];
  /** The sets that a join by a lambda is made of; undefined: not known before its source is read. */
  targetsOf(join: SetOf<'join'>): readonly SetValue[] | undefined;
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
  /** Reads the sources of the joins by a lambda in it, each once. @throws Suspended */
  readShapeOf(target: SetTarget, request: SetRequest): SetShape;
  /** The sets that a join is made of. @throws Suspended */
  joinedSets(join: SetOf<'join'>, request: SetRequest): readonly SetValue[];
}

/** The shape of a set whose tuples all have the same number of values. */
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

/** Access to a set that is made of one other: the access to the other. */
export function accessToInner<Set extends SetValue & { readonly set: SetValue }>(
  target: Set,
  sets: Sets,
): Access<Set> | undefined {
  const access = sets.accessToSet(target.set);
  return access && { target: { ...target, set: access.target }, filtered: access.filtered };
}
