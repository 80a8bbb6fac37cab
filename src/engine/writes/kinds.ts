/** What each native collection stores. A new kind of schema object is a row here. */
import type { CollectionId } from '../../values/value.ts';
import type { Kind } from './draft.ts';
import { COLLECTION } from './validate-collections.ts';
import { DATABASE } from './validate-databases.ts';
import { DOCUMENT } from './validate-documents.ts';
import { ACCESS_PROVIDER } from './validate-access-providers.ts';
import { FUNCTION } from './validate-functions.ts';
import { CREDENTIALS } from './validate-credentials.ts';
import { KEY, TOKEN } from './validate-identity.ts';
import { INDEX } from './validate-indexes.ts';
import { ROLE } from './validate-roles.ts';
import { NATIVE } from '../../values/native-kinds.ts';

const KINDS_BY_COLLECTION: ReadonlyMap<CollectionId, Kind> = new Map([
  [NATIVE.collections, COLLECTION],
  [NATIVE.databases, DATABASE],
  [NATIVE.indexes, INDEX],
  [NATIVE.functions, FUNCTION],
  [NATIVE.roles, ROLE],
  [NATIVE.keys, KEY],
  [NATIVE.tokens, TOKEN],
  [NATIVE.credentials, CREDENTIALS],
  [NATIVE.access_providers, ACCESS_PROVIDER],
]);

export const kindOf = (collection: CollectionId): Kind =>
  KINDS_BY_COLLECTION.get(collection) ?? DOCUMENT;
