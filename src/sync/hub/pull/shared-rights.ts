/** Decides which devices read the same documents in the same sets. */
import { keyOf, liveVersion } from '../../../engine/documents.ts';
import type { Micros } from '../../../values/value.ts';
import { isReadableAsWhole, type ResolvedRequest } from '../sets/requested-sets.ts';
import { actorOf, expiryOf } from '../rights/caller-facts.ts';
import type { RightsContext } from '../rights/rights-context.ts';
import type { Scope } from '../rights/scope.ts';
import { dependOnTime } from '../rights/time-dependent-rights.ts';

export interface SharedRights {
  /** Devices with equal names and sets read the same documents, until a commit changes what their rights depend on. */
  readonly name: string;
  /** From this time on, µs, the rights may change without a commit. */
  readonly until: Micros;
}

/**
 * Undefined if changes of the device's rights can be found only by evaluating them for it alone.
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
  // Predicates may read any claim of an access token.
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
