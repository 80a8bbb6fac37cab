/** Made by `npm run docs` of src/values/native-kinds.ts: each kind is validated by the file of its name. */
import type { NativeName } from '../../values/native-kinds.ts';
import type { Kind } from './draft.ts';
import { COLLECTION } from './validate-collections.ts';
import { DATABASE } from './validate-databases.ts';
import { INDEX } from './validate-indexes.ts';
import { FUNCTION } from './validate-functions.ts';
import { ROLE } from './validate-roles.ts';
import { KEY } from './validate-keys.ts';
import { TOKEN } from './validate-tokens.ts';
import { CREDENTIALS } from './validate-credentials.ts';
import { ACCESS_PROVIDER } from './validate-access-providers.ts';

export const KINDS: { readonly [Name in NativeName]: Kind } = {
  collections: COLLECTION,
  databases: DATABASE,
  indexes: INDEX,
  functions: FUNCTION,
  roles: ROLE,
  keys: KEY,
  tokens: TOKEN,
  credentials: CREDENTIALS,
  access_providers: ACCESS_PROVIDER,
};
