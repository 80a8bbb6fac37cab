/** Reads the changes between a device's cursor and the head. */
import { collectionPrefix } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { LoggedChange } from '../../../engine/transactions.ts';
import type { Micros } from '../../../values/value.ts';
import { RIGHTS_COLLECTIONS } from '../rights/rights-collections.ts';
import { NO_SCOPE, ScopeMatcher } from '../rights/scope.ts';
import { collectionOfChange, horizonIn } from '../rows/change-log-rows.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import { gapsIn, isInGap } from '../rows/gap-rows.ts';
import { isUntouchedSince, type Concern } from '../rows/dropped-changes.ts';
import { isLoadedOn } from '../sets/requested-sets.ts';
import { changesSince, type ChangesFound } from './changes.ts';
import type { PullContext } from './pull-context.ts';

export interface CaughtUp extends ChangesFound {
  /** The device's cursor. Undefined if it is missing, of a lost commit, or older than the log while relevant data has changed since. */
  readonly since: Micros | undefined;
  /** The schema has changed, or other data on which the rights of the device depend. */
  readonly mayAffectRights: boolean;
}

/** @throws Suspended */
export function catchUp(context: PullContext): CaughtUp {
  const { message, input, reader, database, sets, scope, recent } = context;
  const since = validCursor(context);
  if (since === undefined) {
    const nothing = { rows: new Map<never, never>(), changed: new Set<never>(), bytes: 0 };
    return { ...nothing, until: input.head, since, mayAffectRights: false };
  }
  const matcher = new ScopeMatcher(scope ?? NO_SCOPE);
  const parts = sets.flatMap((set) => set.parts);
  let mayAffectRights = false;
  const concerns = (change: LoggedChange): boolean => {
    mayAffectRights ||=
      !change.isSame &&
      (RIGHTS_COLLECTIONS.has(collectionOfChange(change)) || matcher.matches(change));
    return parts.some((part) => isLoadedOn(part, change));
  };
  const { head } = input;
  const query = { database, since, head, bytes: message.maxBytes, concerns, recent };
  return { ...changesSince(reader, query), since, mayAffectRights };
}

function validCursor(context: PullContext): Micros | undefined {
  const { message, input, reader, database, recent } = context;
  const { cursor } = message;
  if (cursor === undefined || cursor > input.head) return undefined;
  if ([...gapsIn(reader), ...recent.gaps].some((gap) => isInGap(cursor, gap))) return undefined;
  const isInLog = cursor >= horizonIn(reader, database);
  return isInLog || isUntouchedSince(reader, database, concernOf(context), cursor)
    ? cursor
    : undefined;
}

/** The data whose changes matter to the device: its sets, the data on which its rights depend, and the schema. */
function concernOf({ database, sets, scope }: PullContext): Concern {
  const { rows, ranges } = new ScopeMatcher(scope ?? NO_SCOPE);
  const parts = sets.flatMap((set) => set.parts.map(({ range }) => range));
  const schema = [...RIGHTS_COLLECTIONS].map((collection): PartRange => ({
    by: 'key',
    ...prefixRange(collectionPrefix(database, collection)),
  }));
  return { rows, ranges: [...parts, ...ranges, ...schema] };
}
