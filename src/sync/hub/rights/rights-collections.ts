/** Which schema objects decide what a caller may read, and what a device is sent of the schema. */
import { type CollectionId } from '../../../values/value.ts';
import { NATIVE } from '../../../values/native-kinds.ts';

export const RIGHTS_COLLECTIONS: ReadonlySet<CollectionId> = new Set([
  NATIVE.collections,
  NATIVE.indexes,
  NATIVE.functions,
  NATIVE.roles,
  NATIVE.access_providers,
]);
