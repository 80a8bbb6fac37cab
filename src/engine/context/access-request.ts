/** Access requests: actions of a query that permissions can deny. Spec: auth 3.2. */
import type { ActionName, Micros, ObjectValue, Ref, Value } from '../../values/value.ts';
import type { FunctionDefinition, IndexDefinition } from '../catalog/definitions.ts';

/** An action that a query is about to take. The variants are the rows of the table in auth 3.2. */
export type AccessRequest =
  /** `ref`: a document, or a native collection as a set (for `keys()`, the ref of the collection). */
  | { readonly action: 'read' | 'history_read' | 'delete'; readonly ref: Ref }
  /** `read_index`: whether `match` may read the index. `read_all_of_index`: whether its documents are shown without checking each. */
  | {
      readonly action: 'read_index' | 'read_all_of_index';
      readonly index: IndexDefinition;
      readonly terms: readonly Value[];
    }
  /** Whether one document found through a readable index is shown. */
  | { readonly action: 'read_entry'; readonly ref: Ref; readonly index: IndexDefinition }
  /** Whether `documents(collection)` is shown without a check of each document. */
  | { readonly action: 'read_all_of_collection'; readonly collection: Ref }
  /** `data` may contain nulls. Predicates do not see them. */
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
  /** Whether a role has any rule for this action, whatever the rule decides about this document. */
  | { readonly action: 'has_rule'; readonly rule: 'write' | 'delete'; readonly ref: Ref }
  /** Change a password without knowing the old one, or set a password hash. Spec: auth 2.1. */
  | { readonly action: 'set_any_password' }
  | { readonly action: 'call'; readonly function: FunctionDefinition; readonly argument: Value };

export interface Permissions {
  /** @throws Suspended */
  may(request: AccessRequest): boolean;
  /**
   * Called for a document that may be read. Whether all documents of its collection may be read, whatever they contain and whatever else
   * the query does.
   */
  readsAllBeside?(ref: Ref): boolean;
}
