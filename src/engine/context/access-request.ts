/** Access requests: what a query is about to do, as far as permissions can deny it. Spec: auth 3.2. */
import type { ActionName, Micros, ObjectValue, Ref, Value } from '../../values/value.ts';
import type { FunctionDefinition, IndexDefinition } from '../catalog/definitions.ts';

/** Something a query is about to do. Rows of the table in auth 3.2. */
export type AccessRequest =
  /** Of a document, or of a native collection as a set (`keys()`: the ref of the collection). */
  | { readonly action: 'read' | 'history_read' | 'delete'; readonly ref: Ref }
  /** `match`; and whether its documents are shown without a check of each. */
  | {
      readonly action: 'read_index' | 'read_all_of_index';
      readonly index: IndexDefinition;
      readonly terms: readonly Value[];
    }
  /** Whether one document found through a readable index is shown. */
  | { readonly action: 'read_entry'; readonly ref: Ref; readonly index: IndexDefinition }
  /** Whether `documents(collection)` is shown without a check of each document. */
  | { readonly action: 'read_all_of_collection'; readonly collection: Ref }
  /** Nulls may be in `data`: predicates see none. */
  | { readonly action: 'create'; readonly collection: Ref; readonly data: ObjectValue }
  | {
      readonly action: 'create_with_id';
      readonly collection: Ref;
      readonly data: ObjectValue;
      readonly ref: Ref;
    }
  /** `new` is `old` merged with the params, also for `replace`. */
  | {
      readonly action: 'write';
      readonly ref: Ref;
      readonly old: ObjectValue;
      readonly new: ObjectValue;
    }
  | {
      readonly action: 'history_write';
      readonly ref: Ref;
      readonly ts: Micros;
      readonly kind: ActionName;
      readonly data: ObjectValue;
    }
  /** Whether a role has a rule for it, whatever the rule says of this document. */
  | { readonly action: 'has_rule'; readonly rule: 'write' | 'delete'; readonly ref: Ref }
  /** Change a password without knowing it, or set a hash of one. Spec: auth 2.1. */
  | { readonly action: 'set_any_password' }
  | { readonly action: 'call'; readonly function: FunctionDefinition; readonly argument: Value };

export interface Permissions {
  /** @throws Suspended */
  may(request: AccessRequest): boolean;
  /**
   * Of a document that it has just let be read: whether it lets all of that collection be read, whatever is in them and whatever the rest
   * of the query does.
   */
  readsAllBeside?(ref: Ref): boolean;
}
