/**
 * The parts that the sets of an operation consist of. Types, equality, weight, order, wire text, stored text and `@set` literals are
 * derived from them. Each operation defines its own parts, in `src/engine/sets/operations/`; `set-table.ts` lists them all.
 * Spec: sets 4, values 5.
 */

/**
 * The kind of value that a part contains. An `index` must exist when the set is created. If `terms` or `members` have a single
 * element, it is written without the array. Empty `terms` and an empty `bound` are not written.
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
   * Name of the part inside `@set`. Stored sets use the key of the row instead. The part with the same name as the operation is
   * written first.
   */
  readonly wire: string;
}

/** Parts by name, in the order in which they are stored. */
export type SetParts = Readonly<Record<string, SetPart>>;
