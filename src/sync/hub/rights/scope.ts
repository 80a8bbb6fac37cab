/**
 * The data on which the rights of a device depend, in addition to the documents themselves. If any of it changes, documents may become
 * readable or unreadable without a change of their own, so the device must compare fingerprints. A scope only grows: two copies with one
 * device id share it, and changes to it are checked for each copy since that copy's own token.
 */
import { hexOfKey, keyOfHex, syncKey, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { LoggedChange } from '../../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import { isRowInRange } from '../../../store/scan.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { recordIn, recordRow } from '../rows/records.ts';
import type { WatchedRange, WatchedReader } from './watched-reader.ts';

/** The scope in its stored form, with keys in hexadecimal. */
export interface Scope {
  readonly rows: readonly string[];
  readonly ranges: readonly (readonly [by: WatchedRange['by'], lower: string, upper: string])[];
  /** When the first of the documents in it expires. */
  readonly lapses: Micros | undefined;
  /** When an expiry of one of them was last noticed. */
  readonly lapsed: Micros;
}

export const NO_SCOPE: Scope = { rows: [], ranges: [], lapses: undefined, lapsed: 0 };

export const scopeAddress = (database: DatabaseId, device: DeviceId): RowAddress => ({
  space: 'sync',
  key: syncKey('scope', database, device),
});

/** @throws Suspended */
export const scopeIn = (
  reader: Reader,
  database: DatabaseId,
  device: DeviceId,
): Scope | undefined => {
  const record = recordIn(reader, scopeAddress(database, device)) as Scope | undefined;
  return record && { ...NO_SCOPE, ...record };
};

export const scopeRow = (database: DatabaseId, device: DeviceId, scope: Scope): Row =>
  recordRow(scopeAddress(database, device), scope);

export const isSameScope = (a: Scope | undefined, b: Scope): boolean =>
  a !== undefined && JSON.stringify(a) === JSON.stringify(b);

/** The union of two scopes, because another request of the device has changed the stored one in the meantime. */
export const mergedScopes = (one: Scope, other: Scope): Scope => ({
  rows: [...new Set([...one.rows, ...other.rows])],
  ranges: [
    ...new Map([...one.ranges, ...other.ranges].map((range) => [range.join(' '), range])).values(),
  ],
  lapses: finite(Math.min(one.lapses ?? Infinity, other.lapses ?? Infinity)),
  lapsed: Math.max(one.lapsed, other.lapsed),
});

const finite = (ts: Micros): Micros | undefined => (Number.isFinite(ts) ? ts : undefined);

/** Tells whether a change affects a scope. */
export class ScopeMatcher {
  readonly rows: ReadonlySet<Key>;
  readonly ranges: readonly WatchedRange[];

  constructor({ rows, ranges }: Pick<Scope, 'rows' | 'ranges'>) {
    this.rows = new Set(rows.map(keyOfHex));
    this.ranges = ranges.map(([by, lower, upper]) => ({
      by,
      lower: keyOfHex(lower),
      upper: keyOfHex(upper),
    }));
  }

  matches(change: Pick<LoggedChange, 'key' | 'entries'>): boolean {
    return this.rows.has(change.key) || this.ranges.some((range) => isRowInRange(change, range));
  }
}

/** Adds what was read now. If the scope becomes too large, it contains whole collections and indexes instead of single facts. */
export function extendedScope(scope: Scope, watched: WatchedReader, present: Micros): Scope {
  const matcher = new ScopeMatcher(scope);
  const rows = [...scope.rows];
  const ranges = [...scope.ranges];
  const known = new Set(ranges.map((range) => range.join(' ')));
  for (const { by, lower, upper } of watched.ranges.values()) {
    const range = [by, hexOfKey(lower), hexOfKey(upper)] as const;
    if (!known.has(range.join(' '))) ranges.push(range);
  }
  for (const key of watched.rows)
    if (!matcher.matches({ key, entries: [] })) rows.push(hexOfKey(key));
  const isTooLarge = rows.length + ranges.length > SYNC_LIMITS.scopeFacts;
  const expiry = scope.lapses ?? Infinity;
  const hasExpired = expiry <= present;
  return {
    ...(isTooLarge ? coarse(rows, ranges) : { rows, ranges }),
    lapses: finite(Math.min(hasExpired ? Infinity : expiry, watched.expiresAt)),
    lapsed: hasExpired ? present : scope.lapsed,
  };
}

/** Hexadecimal digits of database number, and collection or index number. */
const PREFIX_DIGITS = 16;

function coarse(rows: Scope['rows'], ranges: Scope['ranges']): Pick<Scope, 'rows' | 'ranges'> {
  const prefixes = new Map<string, Scope['ranges'][number]>();
  const add = (by: WatchedRange['by'], hex: string): void => {
    const prefix = hex.slice(0, PREFIX_DIGITS);
    const { upper } = prefixRange(keyOfHex(prefix));
    prefixes.set(`${by} ${prefix}`, [by, prefix, hexOfKey(upper)]);
  };
  for (const row of rows) add('key', row);
  for (const [by, lower] of ranges) add(by, lower);
  return { rows: [], ranges: [...prefixes.values()] };
}
