/** The entitlements of a secret, in a form that can be compared with earlier ones. */
import type { ReadSet } from '../../store/execution-reads.ts';
import { callerOf, type CallerHost } from './authenticate-secret.ts';
import { rolesOf } from '../access/caller-roles.ts';
import { systemContext } from './internal-session.ts';
import type { Transactor } from '../transactions/transactor.ts';

export interface Entitlements {
  /** Changes when the secret gets another role, or other roles or memberships. */
  readonly rights: string;
  /** What `rights` was computed from. */
  readonly readSet: ReadSet;
}

/** Returns undefined when the secret is not valid. */
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
