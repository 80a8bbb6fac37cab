/** Which devices read the same of the same sets. */
import { keyOf, liveVersion } from '../../../engine/documents.ts';
import type { Micros } from '../../../values/value.ts';
import { isReadableAsWhole, type ResolvedRequest } from '../sets/requested-sets.ts';
import { actorOf, expiryOf } from '../rights/caller-facts.ts';
import type { RightsContext } from '../rights/rights-context.ts';
import type { Scope } from '../rights/scope.ts';
import { dependOnTime } from '../rights/time-dependent-rights.ts';

export interface SharedRights {
  /** Devices with equal texts and equal sets read the same of these, until a commit concerns what their rights depend on. */
  readonly name: string;
  /** They may change without a commit from then on, µs. */
  readonly until: Micros;
}

/**
 * Undefined: whether the rights of the device changed is seen only by evaluating them.
 * @throws Suspended
 */
export function sharedRightsOf(
  { caller: device, rights, database }: RightsContext,
  sets: readonly ResolvedRequest[],
  scope: Scope,
): SharedRights | undefined {
  const { caller, context } = device;
  const { document, identity, grant } = caller;
  const isOfParent = document !== undefined && document.database !== database;
  if (isOfParent || sets.some(({ error }) => error) || dependOnTime(device)) return undefined;
  const areWhole = sets.every((set) => isReadableAsWhole(rights, set));
  // Predicates may ask for any claim of an access token.
  if (grant && (!areWhole || grant.conditional.length > 0)) return undefined;
  const own = [document, identity].map((ref) => ref && keyOf(ref));
  const facts = areWhole ? [] : [own, actorOf(device), scope];
  const ends = [
    expiryOf(device),
    identity && liveVersion(context, identity, 'present')?.version.ttl,
    scope.lapses,
  ];
  return {
    name: JSON.stringify([database, ...facts]),
    until: Math.min(...ends.map((end) => end ?? Infinity)),
  };
}
