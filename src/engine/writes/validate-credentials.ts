/** Validation of credentials: one document for each instance, with the hash of its password. Spec: auth 2.1. */
import { assert, type Step } from '../../errors.ts';
import { isKind, Ref } from '../../values/value.ts';
import { comparePassword } from '../access/password-attempt.ts';
import { isSameRef } from '../catalog/refs.ts';
import { failNotUnique } from '../documents/unique.ts';
import { findCredentials } from '../access/credentials.ts';
import { checkData, checkTtl, refuse, type Draft, type Kind } from './draft.ts';
import { checkInstance } from './check-instance.ts';
import { passwordChange, setPassword, setsAnyPassword } from './password-params.ts';

export const CREDENTIALS: Kind = {
  accepts: ['instance', 'data', 'ttl'],
  order: ['instance', 'hashed_password', 'data', 'ttl'],
  kept: ['hashed_password'],
  check(draft) {
    checkInstance(draft);
    checkData(draft);
    checkTtl(draft);
    if (draft.mode === 'insert') return;
    const isServer = setsAnyPassword(draft);
    const change = passwordChange(draft, draft.params, [], isServer);
    if (!change || draft.failures.length > 0) return;
    if (!isServer && !knowsPassword(draft)) {
      const text = 'The current password is missing or wrong.';
      refuse(draft, ['current_password'], 'invalid password', text);
    } else setPassword(draft, change);
  },
  beforeWrite: requireOwnInstance,
};

/** Whether the params contain the current password. Not required if there is no password yet. */
function knowsPassword({ context, previous, params }: Draft): boolean {
  const hash = previous?.get('hashed_password');
  if (typeof hash !== 'string') return true;
  const given = params.get('current_password');
  const instance = previous?.get('instance');
  if (typeof given !== 'string' || !isKind(instance, 'ref')) return false;
  return comparePassword(context, { target: instance, instance }, given, hash);
}

function requireOwnInstance({ context, ref, fields }: Draft, position: readonly Step[]): void {
  const instance = fields.get('instance');
  assert(instance instanceof Ref, () => 'credentials were checked to have an instance');
  const found = findCredentials(context, instance);
  if (found && !isSameRef(found.ref, ref))
    failNotUnique(position, 'The user has credentials already: change those.');
}
