/** A query that means what is not there. */
import { fail, type Step } from '../../errors.ts';
import { undefinedRef } from '../../fault-texts.ts';
import { NATIVE_KINDS } from '../../values/native-kinds.ts';
import type { DatabaseId, Ref } from '../../values/value.ts';
import type { Schema, SchemaKind } from './schema.ts';

/**
 * A ref says its name, if the query has deleted what it refers to or began with it.
 * @throws QueryFailure `invalid ref`
 */
export function failUndefined(
  { schema }: { readonly schema: (database: DatabaseId) => Schema },
  kind: SchemaKind,
  meant: string | Pick<Ref, 'database' | 'id'>,
  position: readonly Step[],
): never {
  const name = typeof meant === 'string' ? meant : schema(meant.database).nameById(kind, meant.id);
  return fail('invalid ref', position, undefinedRef(NATIVE_KINDS[kind].singular, name));
}
