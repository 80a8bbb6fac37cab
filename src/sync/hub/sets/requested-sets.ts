/** The sets that a device requests, resolved to parts, with how much of each part the device has. */
import {
  hexOfKey,
  keyAfter,
  keyBefore,
  keyOfHex,
  withDatabase,
  withoutDatabase,
  type Key,
} from '../../../codec/key.ts';
import type { Row } from '../../../store/port.ts';
import { isRowInRange } from '../../../store/scan.ts';
import type { DatabaseId } from '../../../values/value.ts';
import type { RequestedSet, SetAnswer } from '../../protocol/sets.ts';
import type { ReadRights } from '../rights/read-rights.ts';
import {
  nameOfPart,
  resolveSet,
  type ResolvedPart,
  type ResolvedSet,
  type SetContext,
} from './resolve-set.ts';

/** The device has the rows in `[range.lower, end)`. */
export interface RequestedPart extends ResolvedPart {
  readonly end: Key;
}

export interface ResolvedRequest {
  readonly id: string;
  readonly parts: readonly RequestedPart[];
  readonly error: ResolvedSet['error'];
}

/** @throws Suspended */
export function resolveRequest(context: SetContext, set: RequestedSet): ResolvedRequest {
  const { parts, error } = resolveSet(context, set.query);
  const requested = parts.map((part, i) => ({
    ...part,
    end: endOf(part, positionIn(set, parts, i), context.database),
  }));
  return { id: set.id, parts: requested, error };
}

/** Position in a part of which the device has nothing. */
const NOT_LOADED = '';

/** Undefined if the device has all of the part. */
function positionIn(
  { loaded, parts: known }: RequestedSet,
  parts: readonly ResolvedPart[],
  index: number,
): string | undefined {
  if (loaded === 'nothing') return NOT_LOADED;
  const part = parts[index];
  if (known && part) {
    const at = known.findIndex((each) => nameOfPart(each) === nameOfPart(part.part));
    return at < 0 || at >= loaded.length ? NOT_LOADED : loaded[at];
  }
  return loaded.length === parts.length ? loaded[index] : NOT_LOADED;
}

function endOf({ range }: ResolvedPart, position: string | undefined, database: DatabaseId): Key {
  if (position === undefined) return range.upper;
  if (position === NOT_LOADED) return range.lower;
  const end = keyAfter(withDatabase(database, keyOfHex(position)));
  return end > range.lower && end < range.upper ? end : range.lower;
}

function positionOf({ range, end }: RequestedPart): string | undefined {
  if (end === range.upper) return undefined;
  return end === range.lower ? NOT_LOADED : hexOfKey(withoutDatabase(keyBefore(end)));
}

export const hasNothing = ({ parts }: ResolvedRequest): boolean =>
  parts.every(({ end, range }) => end === range.lower);

/** Whether every document that may ever be in the set is readable, regardless of its contents. @throws Suspended */
export const isReadableAsWhole = (
  rights: ReadRights,
  { parts }: Pick<ResolvedRequest, 'parts'>,
): boolean =>
  parts.every(({ part, index }) =>
    part.kind === 'index'
      ? rights.areBuiltin ||
        (index?.sources ?? []).every(
          ({ collections }) =>
            collections !== 'all' && [...collections].every((id) => rights.readsAll(id)),
        )
      : rights.readsAll(part.collection),
  );

/** Whether a document, by its key and index entries, is in the loaded range of a part. */
export const isLoadedOn = (
  { range, end }: RequestedPart,
  row: Pick<Row, 'key' | 'entries'>,
): boolean => isRowInRange(row, { ...range, upper: end });

export const setAnswerOf = ({ id, parts, error }: ResolvedRequest, of?: number): SetAnswer => ({
  id,
  parts: parts.map(({ part }) => part),
  loaded: parts.map(positionOf),
  of,
  error,
});
