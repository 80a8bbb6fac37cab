/** What stands in the `sync` space of a device, as text. */
import { after, hexOfKey, keyOfHex, syncKey, type Key } from '../../codec/key.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Range, Row, RowAddress, TrackedSpace, WriteSet } from '../../store/port.ts';
import type { Reader, Writer } from '../../store/reader.ts';
import type { Pulled } from '../protocol.ts';
import type { ReplicaState, WriteRecord } from './api.ts';

export const STATE: RowAddress = { space: 'sync', key: syncKey('replica') };

export const stateRow = (state: ReplicaState): Row => ({
  key: STATE.key,
  entries: [],
  value: JSON.stringify(state),
});

/** Only this file writes it. */
export const readState = (row: Row | undefined): ReplicaState | undefined =>
  row && (JSON.parse(String(row.value)) as ReplicaState);

/** A write, with what it does to what is shown until its verdict has come. */
export interface OutboxRecord extends WriteRecord {
  /** Undefined: it must be run before its effects are known. */
  readonly effects: WriteSet | undefined;
  /** What it read, for whether a change touches it; `all`: too much to say. */
  readonly reads: Reads | 'all';
  /** Characters of its row, as it was read; 0: not yet written. */
  readonly size: number;
}

export interface Reads {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Pick<Range, 'space' | 'by' | 'lower' | 'upper'>[];
}

export const outboxAddress = (era: number, seq: number): RowAddress => ({
  space: 'sync',
  key: syncKey('outbox', era, seq),
});

/** Writes of one id of the device from `first` on; of all ids when no era is given. */
export function outboxRange(era?: number, first = 0): Range {
  const all = era === undefined ? syncKey('outbox') : syncKey('outbox', era);
  return {
    space: 'sync',
    by: 'key',
    lower: era === undefined ? all : syncKey('outbox', era, first),
    upper: after(all),
    reverse: false,
    limit: Number.MAX_SAFE_INTEGER,
    rows: true,
  };
}

/** @throws Suspended */
export const outboxIn = (reader: Reader, range: Range): OutboxRecord[] =>
  reader.range(range).flatMap(({ row }) => (row ? [readOutboxRow(row)] : []));

/** So many writes are asked for one by one: those made a moment ago are at hand by their keys. */
const FEW = 32;

/** Rows of the writes of one id of the device, from one number to another. @throws Suspended */
export function outboxRowsIn(reader: Reader, era: number, first: number, last: number): Row[] {
  if (last < first) return [];
  if (last - first >= FEW)
    return reader.range(outboxRange(era, first)).flatMap(({ row }) => row ?? []);
  const addresses = Array.from({ length: last - first + 1 }, (_, i) =>
    outboxAddress(era, first + i),
  );
  return eachElement(addresses, (address) => reader.row(address)).flatMap((row) => row ?? []);
}

type Put = readonly [space: string, key: string, value: string, ...entries: string[]];

/** Effects and reads with their keys as hexadecimal digits. */
interface Packed extends WriteRecord {
  readonly effects: { readonly puts: readonly Put[]; readonly deletes: readonly Named[] } | null;
  readonly reads: { readonly rows: readonly Named[]; readonly ranges: readonly Ranged[] } | 'all';
}
type Named = readonly [space: string, key: string];
type Ranged = readonly [space: string, by: string, lower: string, upper: string];

export function outboxRow(era: number, record: OutboxRecord): Row {
  const { effects, reads, size: _, ...rest } = record;
  const packed: Packed = {
    ...rest,
    effects: effects ? packedEffects(effects) : null,
    reads: reads === 'all' ? 'all' : packedReads(reads),
  };
  return {
    key: outboxAddress(era, record.item.seq).key,
    entries: [],
    value: JSON.stringify(packed),
  };
}

const packedEffects = ({ puts, deletes }: WriteSet): NonNullable<Packed['effects']> => ({
  puts: puts.map(({ space, row }) => [
    space,
    hexOfKey(row.key),
    String(row.value),
    ...row.entries.map(hexOfKey),
  ]),
  deletes: deletes.map(({ space, key }) => [space, hexOfKey(key)]),
});

const packedReads = ({ rows, ranges }: Reads): Exclude<Packed['reads'], 'all'> => ({
  rows: rows.map(({ space, key }) => [space, hexOfKey(key)]),
  ranges: ranges.map(({ space, by, lower, upper }) => [
    space,
    by,
    hexOfKey(lower),
    hexOfKey(upper),
  ]),
});

/** Only `outboxRow` makes them. */
export function readOutboxRow(row: Row): OutboxRecord {
  const { effects, reads, ...rest } = JSON.parse(String(row.value)) as Packed;
  return {
    ...rest,
    size: String(row.value).length,
    effects: effects
      ? {
          puts: effects.puts.map(([space, key, value, ...entries]) => ({
            space: space as TrackedSpace,
            row: { key: keyOfHex(key), entries: entries.map(keyOfHex), value },
          })),
          deletes: effects.deletes.map(addressOf),
        }
      : undefined,
    reads:
      reads === 'all'
        ? 'all'
        : {
            rows: reads.rows.map(addressOf),
            ranges: reads.ranges.map(([space, by, lower, upper]) => ({
              space: space as TrackedSpace,
              by: by as Range['by'],
              lower: keyOfHex(lower),
              upper: keyOfHex(upper),
            })),
          },
  };
}

const addressOf = ([space, key]: Named): RowAddress => ({
  space: space as TrackedSpace,
  key: keyOfHex(key),
});

/** A part of a pull that is not to be shown before the last has come. */
export const stagedRow = (part: number, pulled: Pulled): Row => ({
  key: stagedKey(part),
  entries: [],
  value: JSON.stringify(pulled),
});

export const stagedKey = (part: number): Key => syncKey('staged', part);

export const readStagedRow = (row: Row): Pulled => JSON.parse(String(row.value)) as Pulled;

export function dropStaged(writer: Writer, { staged }: Pick<ReplicaState, 'staged'>): void {
  for (let part = 0; part < (staged?.parts ?? 0); part++) writer.delete('sync', stagedKey(part));
}

/** As the app is told of it. */
export function publicOf(record: OutboxRecord): WriteRecord {
  const { id, era, item, state, at, local, verdict, predicted, replaces } = record;
  return { id, era, item, state, at, local, verdict, predicted, replaces };
}
