/** The row of a write in the outbox: JSON, in which keys of effects and reads are hexadecimal. */
import { hexOfKey, keyOfHex, syncKey } from '../../../codec/key.ts';
import type { Range, Row, RowAddress, Space, WriteSet } from '../../../store/port.ts';
import type { OutboxRecord, Reads, WriteRecord } from './outbox-record.ts';

export const outboxAddress = (era: number, seq: number): RowAddress => ({
  space: 'sync',
  key: syncKey('outbox', era, seq),
});

interface PackedRecord extends WriteRecord {
  readonly effects: {
    readonly puts: readonly PackedPut[];
    readonly deletes: readonly PackedAddress[];
  } | null;
  readonly reads:
    | { readonly rows: readonly PackedAddress[]; readonly ranges: readonly PackedRange[] }
    | 'all';
}
type PackedPut = readonly [space: Space, key: string, value: string, ...entries: string[]];
type PackedAddress = readonly [space: Space, key: string];
type PackedRange = readonly [space: Space, by: Range['by'], lower: string, upper: string];

export function outboxRow(record: OutboxRecord): Row {
  const { effects, reads, size: _, ...rest } = record;
  const packed: PackedRecord = {
    ...rest,
    effects: effects ? packEffects(effects) : null,
    reads: reads === 'all' ? 'all' : packReads(reads),
  };
  return {
    key: outboxAddress(record.era, record.item.seq).key,
    entries: [],
    value: JSON.stringify(packed),
  };
}

const packEffects = ({ puts, deletes }: WriteSet): NonNullable<PackedRecord['effects']> => ({
  puts: puts.map(({ space, row }) => [
    space,
    hexOfKey(row.key),
    String(row.value),
    ...row.entries.map(hexOfKey),
  ]),
  deletes: deletes.map(packAddress),
});

const packReads = ({ rows, ranges }: Reads): Exclude<PackedRecord['reads'], 'all'> => ({
  rows: rows.map(packAddress),
  ranges: ranges.map(({ space, by, lower, upper }) => [
    space,
    by,
    hexOfKey(lower),
    hexOfKey(upper),
  ]),
});

const packAddress = ({ space, key }: RowAddress): PackedAddress => [space, hexOfKey(key)];

/** Parsed rows, which never change. Cached because each pull needs all pending writes, and there may be thousands. */
const parsed = new WeakMap<Row, OutboxRecord>();

export function readOutboxRow(row: Row): OutboxRecord {
  const record = parsed.get(row) ?? parseOutboxRow(row);
  parsed.set(row, record);
  return record;
}

/** The cast is safe, because only `outboxRow` makes such rows. */
function parseOutboxRow(row: Row): OutboxRecord {
  const text = String(row.value);
  const { effects, reads, ...rest } = JSON.parse(text) as PackedRecord;
  return {
    ...rest,
    size: text.length,
    effects: effects ? unpackEffects(effects) : undefined,
    reads: reads === 'all' ? 'all' : unpackReads(reads),
  };
}

const unpackEffects = ({ puts, deletes }: NonNullable<PackedRecord['effects']>): WriteSet => ({
  puts: puts.map(([space, key, value, ...entries]) => ({
    space,
    row: { key: keyOfHex(key), entries: entries.map(keyOfHex), value },
  })),
  deletes: deletes.map(unpackAddress),
});

const unpackReads = ({ rows, ranges }: Exclude<PackedRecord['reads'], 'all'>): Reads => ({
  rows: rows.map(unpackAddress),
  ranges: ranges.map(([space, by, lower, upper]) => ({
    space,
    by,
    lower: keyOfHex(lower),
    upper: keyOfHex(upper),
  })),
});

const unpackAddress = ([space, key]: PackedAddress): RowAddress => ({
  space,
  key: keyOfHex(key),
});
