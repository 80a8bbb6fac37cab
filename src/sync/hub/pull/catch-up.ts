/** Reads the changes between the cursor of a device and the head. */
import type { LoggedChange } from '../../../engine/transactions.ts';
import type { Micros } from '../../../values/value.ts';
import { RIGHTS_COLLECTIONS } from '../rights/rights-collections.ts';
import { NO_SCOPE, ScopeMatcher } from '../rights/scope.ts';
import { collectionOfChange, horizonIn } from '../rows/change-log-rows.ts';
import { isLoadedOn } from '../sets/requested-sets.ts';
import { changesSince, type ChangesFound } from './changes.ts';
import type { PullContext } from './pull-context.ts';

export interface CaughtUp extends ChangesFound {
  /** The cursor of the device; undefined: unknown, or too old for the log. */
  readonly since: Micros | undefined;
  /** Rights may have changed: the schema did, or something else they depend on. */
  readonly mayAffectRights: boolean;
}

/** @throws Suspended */
export function catchUp(context: PullContext): CaughtUp {
  const { message, input, reader, database, sets, scope, recent } = context;
  const since = validCursor(context);
  if (since === undefined)
    return { rows: new Map(), until: input.head, bytes: 0, since, mayAffectRights: false };
  const matcher = new ScopeMatcher(scope ?? NO_SCOPE);
  const parts = sets.flatMap((set) => set.parts);
  let mayAffectRights = false;
  const concerns = (change: LoggedChange): boolean => {
    mayAffectRights ||=
      RIGHTS_COLLECTIONS.has(collectionOfChange(change)) || matcher.matches(change);
    return parts.some((part) => isLoadedOn(part, change));
  };
  const { head } = input;
  const query = { database, since, head, bytes: message.maxBytes, concerns, recent };
  return { ...changesSince(reader, query), since, mayAffectRights };
}

function validCursor({ message, input, reader, database }: PullContext): Micros | undefined {
  const { cursor } = message;
  if (cursor === undefined || cursor > input.head) return undefined;
  return cursor >= horizonIn(reader, database) ? cursor : undefined;
}
