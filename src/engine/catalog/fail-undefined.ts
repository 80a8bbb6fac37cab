/** Fails a query that refers to a schema object that does not exist. */
import { fail, type Step } from '../../errors.ts';
import { undefinedRef } from '../../fault-texts.ts';
import { NATIVE_KINDS } from '../../values/native-kinds.ts';
import type { DatabaseId, Ref } from '../../values/value.ts';
import type { Schema, SchemaKind } from './schema.ts';

/** `meant` is a name or a ref. The error contains the name of a ref if the object exists now or existed before this query. */
export function failUndefined(
  { schema }: { readonly schema: (database: DatabaseId) => Schema },
  kind: SchemaKind,
  meant: string | Pick<Ref, 'database' | 'id'>,
  position: readonly Step[],
): never {
  const name = typeof meant === 'string' ? meant : schema(meant.database).nameById(kind, meant.id);
  return fail('invalid ref', position, undefinedRef(NATIVE_KINDS[kind].singular, name));
}
