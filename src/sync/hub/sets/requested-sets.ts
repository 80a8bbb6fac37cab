/** The sets of a device as they stand: what they come down to now, and how much of each part the device has. */
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
import type { DatabaseId } from '../../../values/value.ts';
import {
  nameOfPart,
  resolveSet,
  type ResolvedPart,
  type ResolvedSet,
  type SetGround,
} from './resolve-set.ts';
import type { PulledSet, SetAnswer } from '../../protocol/sets.ts';
import { isRowInRange } from '../../../store/scan.ts';

/** The device has what is in `[range.lower, end)`. */
export interface HeldPart extends ResolvedPart {
  readonly end: Key;
}

export interface AskedSet {
  readonly id: string;
  readonly parts: readonly HeldPart[];
  readonly error: ResolvedSet['error'];
}

/** @throws Suspended */
export function askedSet(ground: SetGround, set: PulledSet): AskedSet {
  const { parts, error } = resolveSet(ground, set.query);
  const { database } = ground.context;
  const held = parts.map((part, i) => ({
    ...part,
    end: endOf(part, placeOf(set, parts, i), database),
  }));
  return { id: set.id, parts: held, error };
}

const NOTHING = '';

/** Undefined: all of it. */
function placeOf(
  { loaded, parts: known }: PulledSet,
  parts: readonly ResolvedPart[],
  index: number,
): string | undefined {
  if (loaded === 'nothing') return NOTHING;
  const part = parts[index];
  if (known && part) {
    const at = known.findIndex((each) => nameOfPart(each) === nameOfPart(part.part));
    return at < 0 || at >= loaded.length ? NOTHING : loaded[at];
  }
  return loaded.length === parts.length ? loaded[index] : NOTHING;
}

function endOf({ range }: ResolvedPart, place: string | undefined, database: DatabaseId): Key {
  if (place === undefined) return range.upper;
  if (place === NOTHING) return range.lower;
  const end = keyAfter(withDatabase(database, keyOfHex(place)));
  return end > range.lower && end < range.upper ? end : range.lower;
}

function placeAt({ range, end }: HeldPart): string | undefined {
  if (end === range.upper) return undefined;
  return end === range.lower ? NOTHING : hexOfKey(withoutDatabase(keyBefore(end)));
}

export const hasNothing = ({ parts }: AskedSet): boolean =>
  parts.every(({ end, range }) => end === range.lower);

/** Whether keys of a document fall into what the device has of a part. */
export const isHeld = ({ range, end }: HeldPart, row: Pick<Row, 'key' | 'entries'>): boolean =>
  isRowInRange(row, { ...range, upper: end });

export const answerOf = ({ id, parts, error }: AskedSet, of?: number): SetAnswer => ({
  id,
  parts: parts.map(({ part }) => part),
  loaded: parts.map(placeAt),
  of,
  error,
});
