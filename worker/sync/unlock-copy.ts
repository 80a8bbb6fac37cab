/** Logins that unlock a copy of a hub's database. Who may log in there is known to the hub only: what is known here is who did. */
import { isSameText } from '../../src/engine/secrets.ts';
import type { UnlockCall } from '../../src/host/api.ts';
import type { Replica } from '../../src/sync/device/api.ts';
import { keptToken } from './token-vault.ts';
import type { OfflineLogin } from './verifier.ts';

export interface CopyLoginOptions {
  readonly name: string;
  readonly replica: Pick<Replica, 'state'>;
  readonly offlineLogin: Pick<OfflineLogin, 'check'>;
}

/**
 * Whether it is the login of the person whose copy this is: the token that is kept, or their password. Undefined: this is no copy.
 * @throws Refusal `connection_needed` when this device cannot tell; `too many requests`
 */
export async function isLoginOfCopy(
  { name, replica, offlineLogin }: CopyLoginOptions,
  call: UnlockCall,
): Promise<boolean | undefined> {
  const state = await replica.state();
  if (!state) return undefined;
  if (!('secret' in call)) return offlineLogin.check(`${state.hub} ${call.user}`, call.password);
  const token = await keptToken(name);
  return token !== undefined && isSameText(call.secret, token);
}
