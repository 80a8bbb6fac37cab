/**
 * What the sets of an operation are made of. Types, equality, weight, order, wire text, stored text and `@set` literals follow from its
 * parts. Each operation tells its own, in `src/engine/sets/operations/`; `set-table.ts` lists them. Spec: sets 4, values 5.
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

/** By name, in the order in which they are stored. */
export type SetParts = Readonly<Record<string, SetPart>>;
