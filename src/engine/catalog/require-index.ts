/** Resolves the index that a query names, and requires that it is active. */
import { fail } from '../../errors.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import type { Names } from '../../query/session.ts';
import { isKind, type DatabaseId, type Ref } from '../../values/value.ts';
import { failUndefined } from './fail-undefined.ts';
import type { Schema } from './schema.ts';

/** @throws QueryFailure `invalid ref`, `instance not found` */
export function requireIndex(
  schema: (database: DatabaseId) => Schema,
  names: Pick<Names, 'ref'>,
  nameOrRef: string | Ref,
  path: QueryPath,
): Ref {
  const position = positionOf(path, 'index');
  const ref =
    typeof nameOrRef === 'string' ? names.ref('indexes', nameOrRef, undefined) : nameOrRef;
  const index = isKind(ref, 'ref') ? schema(ref.database).index(ref) : undefined;
  if (!index) return failUndefined({ schema }, 'indexes', nameOrRef, position);
  if (index.active) return index.ref;
  const text = `Index '${index.name}' is not active.`;
  return fail('instance not found', position, text, { status: 400 });
}
