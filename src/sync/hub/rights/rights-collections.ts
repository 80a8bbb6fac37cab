/** Collections of schema objects, which determine what a caller may read, and which schema a device receives. */
import { type CollectionId } from '../../../values/value.ts';
import { NATIVE, OWN_SCHEMA_NAMES } from '../../../values/native-kinds.ts';

export const RIGHTS_COLLECTIONS: ReadonlySet<CollectionId> = new Set(
  OWN_SCHEMA_NAMES.map((name) => NATIVE[name]),
);
