/** The token of an answer, and whether the device must compare fingerprints. */
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import { actorOf } from '../rights/caller-facts.ts';
import type { CallerHost } from '../rights/device-caller.ts';
import type { Scope } from '../rights/scope.ts';
import { dependOnTime } from '../rights/time-dependent-rights.ts';
import { hasNothing } from '../sets/requested-sets.ts';
import type { CaughtUp } from './catch-up.ts';
import { digestOfRoles, NONCE_BYTES, readToken, tokenText } from './copy-token.ts';
import type { PullContext } from './pull-context.ts';

interface Findings {
  readonly caughtUp: CaughtUp;
  readonly isUnsure: boolean;
  readonly scope: Scope;
}

/** A comparison is due if rights may have changed in a way that the changes of documents do not show. @throws Suspended */
export function nextToken(
  { message, caller, rights, scope: before, sets }: PullContext,
  { caughtUp, isUnsure, scope }: Findings,
  { sha256, random }: CallerHost,
): { readonly token: string; readonly mustCompare: boolean } {
  const { snapshot } = caller.context;
  const hasSets = sets.some((set) => !set.error && !hasNothing(set));
  const known = readToken(message.token);
  const { role, roles: inForce } = actorOf(caller);
  const roles = digestOfRoles([role, ...inForce], sha256);
  const tokenAt = (timed: Micros) => tokenText({ at: snapshot, timed, roles }, random(NONCE_BYTES));
  // If the device is new here, the hub has not recorded what its rights depend on.
  const isUnknown = !known || !before || caughtUp.since === undefined;
  if (isUnknown) return { token: tokenAt(snapshot), mustCompare: hasSets };
  const isTimed = !rights.areBuiltin && dependOnTime(caller);
  const isTime = isTimed && snapshot - known.timed > SYNC_LIMITS.timedCheckMicros;
  const haveRightsChanged = caughtUp.mayAffectRights || isUnsure || scope.lapsed > known.at;
  const isDue = known.roles !== roles || (!rights.areBuiltin && haveRightsChanged) || isTime;
  return { token: tokenAt(isTime ? snapshot : known.timed), mustCompare: isDue && hasSets };
}
