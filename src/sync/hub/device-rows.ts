/** Rows of the space `sync` at a hub: its devices, the verdicts on their writes, and what their rights rest on. */
import { after, metaKey, syncKey, type Key } from '../../codec/key.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import type { Range, Row, RowAddress } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { DatabaseId, Micros } from '../../values/value.ts';
import { SyncRefused } from '../messages.ts';
import type { DeviceId, Epoch, Verdict } from '../protocol.ts';

/** Made when the store is first opened, and again by whoever restores it. */
export const EPOCH: RowAddress = { space: 'meta', key: metaKey('epoch') };

/** @throws Suspended, SyncRefused when the device has met another history */
export function requireEpoch(reader: Reader, given: Epoch): Epoch {
  const epoch = epochIn(reader);
  if (epoch === given) return epoch;
  throw new SyncRefused('epoch_changed', 'The hub was restored from a backup. Send hello first.');
}

/** @throws Suspended */
export function epochIn(reader: Reader): Epoch {
  const row = reader.row(EPOCH);
  if (typeof row?.value !== 'string') throw new Error('The store of the hub has no epoch.');
  return row.value;
}

/** What a hub knows of a device, for ever. */
export interface DeviceRecord {
  /** Whose it is: see `ownerOf`. */
  readonly owner: string;
  readonly lastSeq: number;
  /** The latest `Now()` that was accepted. */
  readonly lastNow: Micros;
  /** Verdicts up to here are forgotten. */
  readonly forgotten: number;
  /** When it last said hello. */
  readonly seen: Micros;
}

const deviceAddress = (database: DatabaseId, device: DeviceId): RowAddress => ({
  space: 'sync',
  key: syncKey('device', database, device),
});

/** @throws Suspended; SyncRefused `device_taken` */
export function deviceIn(
  reader: Reader,
  database: DatabaseId,
  device: DeviceId,
  owner: string,
): DeviceRecord | undefined {
  const record = recordIn(reader, deviceAddress(database, device)) as DeviceRecord | undefined;
  if (record && record.owner !== owner)
    throw new SyncRefused('device_taken', 'This device id belongs to another user.');
  return record;
}

/** @throws Suspended; SyncRefused `device_taken`, `epoch_changed` */
export function requireDeviceIn(
  reader: Reader,
  database: DatabaseId,
  device: DeviceId,
  owner: string,
): DeviceRecord {
  const record = deviceIn(reader, database, device, owner);
  if (record) return record;
  throw new SyncRefused('epoch_changed', 'The hub does not know this device. Send hello first.');
}

export const deviceRow = (database: DatabaseId, device: DeviceId, record: DeviceRecord): Row => ({
  key: deviceAddress(database, device).key,
  entries: [],
  value: JSON.stringify(record),
});

const verdictAddress = (database: DatabaseId, device: DeviceId, seq: number): RowAddress => ({
  space: 'sync',
  key: syncKey('verdict', database, device, seq),
});

export const verdictKey = (...where: Parameters<typeof verdictAddress>): Row['key'] =>
  verdictAddress(...where).key;

/** @throws Suspended */
export const verdictIn = (
  reader: Reader,
  ...where: Parameters<typeof verdictAddress>
): Verdict | undefined => recordIn(reader, verdictAddress(...where)) as Verdict | undefined;

export const verdictRow = (database: DatabaseId, device: DeviceId, verdict: Verdict): Row => ({
  key: verdictKey(database, device, verdict.seq),
  entries: [],
  value: JSON.stringify(verdict),
});

/** A write by what it is, whichever device brings it under whichever number: two copies of one device may both hold it. */
export const madeKey = (database: DatabaseId, now: Micros, content: string): Key =>
  syncKey('made', database, now, content);

interface MadeRecord {
  readonly owner: string;
  readonly verdict: Verdict;
}

/** The verdict on a write of that content that was judged before. @throws Suspended */
export function madeIn(reader: Reader, key: Key, owner: string): Verdict | undefined {
  const row = reader.rowAssumedAbsent({ space: 'sync', key });
  const record = row && (readRecord(row) as MadeRecord);
  return record?.owner === owner ? record.verdict : undefined;
}

export const madeRow = (key: Key, owner: string, verdict: Verdict): Row => ({
  key,
  entries: [],
  value: JSON.stringify({ owner, verdict } satisfies MadeRecord),
});

/**
 * Those above `settled`, oldest first, as many as fit; the others come when these are settled.
 * @throws Suspended
 */
export function verdictsAbove(
  reader: Reader,
  database: DatabaseId,
  device: DeviceId,
  { settled, lastSeq }: { readonly settled: number; readonly lastSeq: number },
): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  let chars = 0;
  for (const row of verdictRows(reader, database, device, settled + 1, lastSeq)) {
    chars += row.value.length;
    if (verdicts.length > 0 && chars > SYNC_LIMITS.pullVerdictChars) break;
    verdicts.push(readRecord(row) as Verdict);
  }
  return verdicts;
}

/** So many are asked for one by one: those of a moment ago are at hand by their keys. */
const FEW = 16;

function verdictRows(
  reader: Reader,
  database: DatabaseId,
  device: DeviceId,
  first: number,
  last: number,
): readonly Row[] {
  if (last < first) return [];
  if (last - first < FEW) {
    const keys = Array.from({ length: last - first + 1 }, (_, i) =>
      verdictKey(database, device, first + i),
    );
    return eachElement(keys, (key) => reader.row({ space: 'sync', key })).flatMap(
      (row) => row ?? [],
    );
  }
  const range: Range = {
    space: 'sync',
    by: 'key',
    lower: verdictKey(database, device, first),
    upper: after(syncKey('verdict', database, device)),
    reverse: false,
    limit: SYNC_LIMITS.pullVerdicts,
    rows: true,
  };
  return reader.range(range).flatMap(({ row }) => row ?? []);
}

/** Of a list in `sync`: only this room writes them, so what is read there is what was put there. @throws Suspended */
export function recordIn(reader: Reader, address: RowAddress): unknown {
  const row = reader.row(address);
  return row && readRecord(row);
}

const readRecord = (row: Row): unknown => JSON.parse(String(row.value));
