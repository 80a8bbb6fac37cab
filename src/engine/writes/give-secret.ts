/** Creates the secret of a key or token, and stores its hash. Spec: auth 1.2. */
import { globalIdOf } from '../access/authenticate.ts';
import { SECRET_RANDOM_BYTES, secretHash, secretText } from '../access/secrets.ts';
import type { Draft } from './draft.ts';

export function giveSecret(draft: Draft, kind: 'key' | 'token'): void {
  const { context, ref, fields, extras } = draft;
  if (fields.has('hashed_secret')) return;
  const random = context.inputs.randomBytes(SECRET_RANDOM_BYTES);
  fields.set('hashed_secret', secretHash(random, context.inputs.sha256));
  const text =
    kind === 'key'
      ? secretText({ kind, id: ref.id, random })
      : secretText({
          kind,
          id: ref.id,
          databaseGlobalId: globalIdOf(context, ref.database),
          random,
        });
  extras.set('secret', text);
}
