/** Finds the validation rules of a collection. */
import type { CollectionId } from '../../values/value.ts';
import { nativeName } from '../../values/native-kinds.ts';
import type { Kind } from './draft.ts';
import { KINDS } from './kind-table.ts';
import { DOCUMENT } from './validate-documents.ts';

export function kindOf(collection: CollectionId): Kind {
  const name = nativeName(collection);
  return name ? KINDS[name] : DOCUMENT;
}
