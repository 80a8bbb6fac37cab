/** Logins that unlock a copy of a hub's database. Only the hub knows who may log in; this device only knows who has logged in before. */
import { isSameText } from '../../src/engine/access.ts';
import { Refusal } from '../../src/errors.ts';
import type { UnlockCall } from '../../src/host/open.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { CopyLogin } from './login.ts';
import type { TokenVault } from './token-vault.ts';
import type { OfflineLogin } from './verifier.ts';

export interface UnlockCopyOptions {
  readonly name: string;
  readonly replica: Pick<Replica, 'state'>;
  readonly offlineLogin: Pick<OfflineLogin, 'check'>;
  readonly login: Pick<CopyLogin, 'logIn'>;
  readonly vault: Pick<TokenVault, 'kept'>;
  /** The hub may accept this device again: sync of a copy that was locked, or that needed a login, continues. */
  readonly onLogin: () => void;
}

/**
 * Whether the login belongs to the owner of the copy. A secret is compared with the stored token. A password is checked against the hash
 * of the last password that the hub accepted or, with a client key, at the hub. Undefined when the database is not a copy.
 * @throws Refusal `connection_needed` when this device cannot tell; `too many requests`
 */
export async function isLoginOfCopy(
  { name, replica, offlineLogin, login, vault, onLogin }: UnlockCopyOptions,
  call: UnlockCall,
): Promise<boolean | undefined> {
  const state = await replica.state();
  if (!state) return undefined;
  if ('secret' in call) {
    const token = await vault.kept(name);
    return token !== undefined && isSameText(call.secret, token);
  }
  const { user, password, key } = call;
  if (key === undefined) return offlineLogin.check(`${state.hub} ${user}`, password, NOT_ASKED);
  try {
    const asked = { secret: undefined, login: { user, password, key } };
    if (await login.logIn(state.hub, asked, state)) return false;
    onLogin();
    return true;
  } catch (reason) {
    // Another user, whom the hub accepts.
    if (reason instanceof Refusal && reason.code === 'forbidden') return false;
    throw reason;
  }
}

const NOT_ASKED = 'Without `key` the hub cannot be asked.';
