/** Schema objects decide what a caller may read, and what a device is sent of the schema. */
import { type CollectionId } from '../../../values/value.ts';
import { NATIVE, OWN_SCHEMA_NAMES } from '../../../values/native-kinds.ts';

export const RIGHTS_COLLECTIONS: ReadonlySet<CollectionId> = new Set(
  OWN_SCHEMA_NAMES.map((name) => NATIVE[name]),
);
