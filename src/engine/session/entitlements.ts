/** The entitlements of a secret, to compare with earlier ones. */
import type { ReadSet } from '../context/host.ts';
import { callerOf, type CallerHost } from './authenticate-secret.ts';
import { rolesOf } from '../access/caller-roles.ts';
import { systemContext } from './internal-session.ts';
import type { Transactor } from '../transactions/transactor.ts';

export interface Entitlements {
  /** Differs when the secret has another role, or its roles or memberships are others. */
  readonly rights: string;
  /** What that depends on. */
  readonly readSet: ReadSet;
}

/** Undefined when the secret opens nothing. */
export async function entitlementsOf(
  transactor: Transactor,
  secret: string,
  host: CallerHost,
): Promise<Entitlements | undefined> {
  const now = host.clock();
  const { value: rights, readSet } = await transactor.read((input) => {
    const snapshot = Math.max(now, input.head);
    const caller = callerOf(input, snapshot, secret, host);
    if (!caller) return { value: undefined };
    const roles = rolesOf(systemContext(input, caller.database, host, caller), caller);
    const { kind, id } = caller.label;
    const ids = roles.map(({ ref }) => ref.id).sort((a, b) => (a < b ? -1 : 1));
    return { value: [kind, id, caller.role, ...ids].join(' ') };
  });
  return rights === undefined ? undefined : { rights, readSet };
}
