/**
 * The interface of set operations: how sets are read, and what is known about them before. All operations are listed in
 * `operation-table.ts`.
 */
import type { QueryPath } from '../../query/query-path.ts';
import type { Ref, SetOf, SetValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { EventWindow } from '../documents/document-events.ts';
import type { Change } from './changes.ts';
import type { SetCursor, SetRequest, SetTarget } from './set-cursor.ts';

/**
 * One set operation. It reads members through `sets`, which looks up their operation: once for each set that is opened, never per element.
 */
export interface SetOperation<Target extends SetTarget> {
  shape(target: Target, sets: Shapes): SetShape;
  /** Whether pages of the set contain only refs. If so, their documents will probably be read next. */
  showsRefs(target: Target, sets: Shapes): boolean;
  /** The readable part of the set. Undefined: access is denied. */
  access(target: Target, sets: Sets): Access<Target> | undefined;
  /** Opens a cursor. A set that the caller may not read is opened as an empty set; whether that is an error is decided by `access`. */
  open(target: Target, request: SetRequest, sets: Sets): SetCursor;
  /** All stored changes, unordered. Changes before the first listed event are included, because enclosing sets need them. */
  changes(target: Target, request: ChangesRequest, sets: Sets): readonly Change[];
}

/** Properties of a set that are known without reading it. Spec: sets 4, "Shapes". */
export interface SetShape {
  /** Reverse flags of the covered values, then of the ref. Empty: not known before the set is read (join by a lambda). */
  readonly reversed: readonly boolean[];
  /** Possible numbers of covered values of a tuple. Empty: not known. */
  readonly arities: readonly number[];
  /** A tuple is after the longer ones that start with it. True in reversed sets with tuples of several lengths. */
  readonly longerFirst?: boolean;
  /** Whether the set is a set of events. */
  readonly history: boolean;
  /** Whether the history of the set can be listed. Also true if the set is a history. */
  readonly hasHistory: boolean;
}

/** The part of a set that the caller may read. Spec: auth 3.4, 3.5. */
export interface Access<Target extends SetTarget = SetTarget> {
  /** The set, without members that may not be read. */
  readonly target: Target;
  /** The permission must be checked for each tuple. True if it must be for at least one member of the set. */
  readonly filtered: boolean;
}

export interface ChangesRequest {
  readonly sources: boolean;
  readonly filtered: boolean;
  /**
   * The changes are for an enclosing set, which needs the times at which this set contains its tuples. They may differ from the events that
   * this set lists.
   */
  readonly asMember: boolean;
  /** Only for the history of one document: only events in this window are needed. */
  readonly window?: EventWindow | undefined;
}

/** Properties of sets that follow from their definitions alone. */
export interface Shapes {
  readonly schema: EngineContext['schema'];
  /** The target sets of a join by a lambda. Undefined: not known before its source is read. */
  targetsOf(join: SetOf<'join'>): readonly SetValue[] | undefined;
  shapeOf(target: SetTarget): SetShape;
  showsRefs(target: SetTarget): boolean;
}

/** The form that reads a set, and the key under which it has the set. Faults of reading are reported there. */
export interface Reading {
  readonly path: QueryPath;
  readonly key: string;
}

/** Reads all kinds of sets, for one form. */
export interface Sets extends Shapes {
  readonly context: EngineContext;
  readonly reading: Reading;
  accessTo(target: SetTarget): Access | undefined;
  accessToSet(set: SetValue): Access<SetValue> | undefined;
  /** Faults of sets that cannot be read are thrown by `open` or by the first pull. */
  open(target: SetTarget, request: SetRequest): SetCursor;
  changesOf(target: SetTarget, request: ChangesRequest): readonly Change[];
  /** The shape of a set after reading the sources of its joins by a lambda, each once. @throws Suspended */
  readShapeOf(target: SetTarget, request: SetRequest): SetShape;
  /** The target sets of a join. @throws Suspended */
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

/** Access to a set that has one inner set: the access to the inner set. */
export function accessToInner<Set extends SetValue & { readonly set: SetValue }>(
  target: Set,
  sets: Sets,
): Access<Set> | undefined {
  const access = sets.accessToSet(target.set);
  return access && { target: { ...target, set: access.target }, filtered: access.filtered };
}
