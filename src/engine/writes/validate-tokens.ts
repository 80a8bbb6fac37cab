/** Validation of tokens: secrets of documents. Spec: auth 1.2, 2.1. */
import { checkInstance } from './check-instance.ts';
import { checkData, checkTtl, type Kind } from './draft.ts';
import { giveSecret } from './give-secret.ts';

export const TOKEN: Kind = {
  refusesMisspelt: true,
  accepts: ['instance', 'data', 'ttl'],
  order: ['instance', 'data', 'ttl', 'hashed_secret'],
  kept: [],
  hidden: ['hashed_secret'],
  check(draft) {
    checkInstance(draft);
    checkData(draft);
    checkTtl(draft);
    if (draft.mode !== 'update' && draft.failures.length === 0) giveSecret(draft, 'token');
  },
};
