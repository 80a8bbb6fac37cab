/**
 * The operations that make sets, and their parts: one row each. Types, equality, weight, order, wire text, stored text and `@set`
 * literals follow from it; how a set is read is in `src/engine/sets/operations/`. Spec: sets 4, values 5.
 */

/**
 * What a part holds. `index` is of an index that exists where the set is made; `terms` and `members` are written without their
 * array when there is one; `bound` may be left out, as `terms` may.
 */
export type PartKind =
  | 'ref'
  | 'collection'
  | 'index'
  | 'set'
  | 'source'
  | 'members'
  | 'terms'
  | 'bound'
  | 'predicate'
  | 'target';

export interface SetPart {
  readonly kind: PartKind;
  /** Its name inside `@set`; in a stored set it is named as here. The part that bears the name of the operation is written first. */
  readonly wire: string;
}

/** Parts as they are stored, in this order. */
export const SET_PARTS = {
  match: { index: { kind: 'index', wire: 'match' }, terms: { kind: 'terms', wire: 'terms' } },
  documents: { collection: { kind: 'collection', wire: 'documents' } },
  singleton: { ref: { kind: 'ref', wire: 'singleton' } },
  events: { of: { kind: 'source', wire: 'events' } },
  union: { sets: { kind: 'members', wire: 'union' } },
  intersection: { sets: { kind: 'members', wire: 'intersection' } },
  difference: { sets: { kind: 'members', wire: 'difference' } },
  distinct: { set: { kind: 'set', wire: 'distinct' } },
  reverse: { set: { kind: 'set', wire: 'reverse' } },
  filter: {
    set: { kind: 'set', wire: 'collection' },
    lambda: { kind: 'predicate', wire: 'filter' },
  },
  join: { set: { kind: 'set', wire: 'join' }, with: { kind: 'target', wire: 'with' } },
  range: {
    set: { kind: 'set', wire: 'range' },
    from: { kind: 'bound', wire: 'from' },
    to: { kind: 'bound', wire: 'to' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, SetPart>>>>;

export type SetParts = typeof SET_PARTS;
export type SetOp = keyof SetParts;
