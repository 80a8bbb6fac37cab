/**
 * What the rights of a device rest on beside the documents themselves. When any of it changes, documents may come or go that did not
 * change: the device is told to compare fingerprints. It only grows: two copies that have one id share it, and each is judged by it since
 * its own token.
 */
import { hexOfKey, keyOfHex, syncKey } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { LoggedChange } from '../../../engine/change-log.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import { isRowInRange } from '../../../store/scan.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { recordIn } from '../rows/device-rows.ts';
import type { WatchedRange, WatchedReader } from './watched-reader.ts';

/** As it is stored; keys as hexadecimal digits. */
export interface Scope {
  readonly rows: readonly string[];
  readonly ranges: readonly (readonly [by: WatchedRange['by'], lower: string, upper: string])[];
  /** First time from now on at which something of it lapses. */
  readonly lapses: Micros | undefined;
  /** When something of it was last found to have lapsed. */
  readonly lapsed: Micros;
}

export const NO_SCOPE: Scope = { rows: [], ranges: [], lapses: undefined, lapsed: 0 };

const scopeAddress = (database: DatabaseId, device: DeviceId): RowAddress => ({
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

/** Another exchange of the device has changed it meanwhile. */
export function joined(one: Scope, other: Scope): Scope {
  const ranges = [...one.ranges, ...other.ranges].map((range) => [range.join(' '), range] as const);
  const lapses = Math.min(one.lapses ?? Infinity, other.lapses ?? Infinity);
  return {
    rows: [...new Set([...one.rows, ...other.rows])],
    ranges: [...new Map(ranges).values()],
    lapses: Number.isFinite(lapses) ? lapses : undefined,
    lapsed: Math.max(one.lapsed, other.lapsed),
  };
}

export const scopeRow = (database: DatabaseId, device: DeviceId, scope: Scope): Row => ({
  key: scopeAddress(database, device).key,
  entries: [],
  value: JSON.stringify(scope),
});

/** Ready to be compared with changes. */
export class ScopeFacts {
  private readonly rows: ReadonlySet<string>;
  private readonly ranges: readonly WatchedRange[];

  constructor({ rows, ranges }: Pick<Scope, 'rows' | 'ranges'>) {
    this.rows = new Set(rows.map(keyOfHex));
    this.ranges = ranges.map(([by, lower, upper]) => ({
      by,
      lower: keyOfHex(lower),
      upper: keyOfHex(upper),
    }));
  }

  isMetBy({ key, entries }: LoggedChange): boolean {
    return this.rows.has(key) || this.ranges.some((range) => isRowInRange({ key, entries }, range));
  }
}

/** With what was looked at now. Past a limit whole collections and indexes stand for what is in them. */
export function widened(scope: Scope, watched: WatchedReader, present: Micros): Scope {
  const facts = new ScopeFacts(scope);
  const rows = [...scope.rows];
  const ranges = [...scope.ranges];
  const known = new Set(ranges.map((range) => range.join(' ')));
  for (const { by, lower, upper } of watched.ranges.values()) {
    const range = [by, hexOfKey(lower), hexOfKey(upper)] as const;
    if (!known.has(range.join(' '))) ranges.push(range);
  }
  for (const key of watched.rows)
    if (!facts.isMetBy({ key, entries: [] })) rows.push(hexOfKey(key));
  const before = scope.lapses ?? Infinity;
  const isPast = before <= present;
  const lapses = Math.min(isPast ? Infinity : before, watched.lapses);
  return {
    ...(rows.length + ranges.length > SYNC_LIMITS.scopeFacts
      ? coarse(rows, ranges)
      : { rows, ranges }),
    lapses: Number.isFinite(lapses) ? lapses : undefined,
    lapsed: isPast ? present : scope.lapsed,
  };
}

/** Hexadecimal digits of database and collection, or index. */
const PREFIX_DIGITS = 16;

function coarse(rows: Scope['rows'], ranges: Scope['ranges']): Pick<Scope, 'rows' | 'ranges'> {
  const prefixes = new Set(rows.map((row) => `key ${row.slice(0, PREFIX_DIGITS)}`));
  for (const [by, lower] of ranges) prefixes.add(`${by} ${lower.slice(0, PREFIX_DIGITS)}`);
  return {
    rows: [],
    ranges: [...prefixes].map((each) => {
      const [by, prefix = ''] = each.split(' ') as [WatchedRange['by'], string?];
      return [by, prefix, hexOfKey(prefixRange(keyOfHex(prefix)).upper)] as const;
    }),
  };
}

export const isSameScope = (a: Scope | undefined, b: Scope): boolean =>
  a !== undefined && JSON.stringify(a) === JSON.stringify(b);
