/**
 * The operations that make sets, and their parts: one row each. Types, equality, weight, order, wire text, stored text and `@set`
 * literals follow from it; how a set is read is in `src/engine/sets/operations/`. Spec: sets 4, values 5.
 */

/**
 * What a part holds. An `index` must exist when the set is made. A single element of `terms` or `members` is written
 * without its array. Empty `terms` and an empty `bound` are left out.
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
  /**
   * Its name inside `@set`; stored sets have the name of the row. The part with the name of the operation is written
   * first.
   */
  readonly wire: string;
}

/** Parts in the order in which they are stored. */
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
