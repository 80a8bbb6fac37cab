/** The records of devices at a hub. A record is kept until there has been no contact for `devicesKeptMicros`. */
import { syncKey, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import { scan } from '../../../store/scan.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { SYNC_PROTOCOL } from '../../protocol/messages.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import { readRecord, recordIn, recordRow } from './records.ts';

export interface DeviceRecord {
  /** The owner: see `ownerOf`. */
  readonly owner: string;
  /** Number of the latest write that was judged. */
  readonly lastSeq: number;
  /** Minimum `Now()` of later writes: that of the latest write, or from the latest hello at which the device had no unsent writes. */
  readonly lastNow: Micros;
  /** Verdicts up to this number were deleted. */
  readonly forgotten: number;
  /** When the device last said hello, to the day. */
  readonly seen: Micros;
  /** Protocol of its last hello. Undefined: 1. */
  readonly protocol?: number;
}

export const deviceAddress = (database: DatabaseId, device: DeviceId): RowAddress => ({
  space: 'sync',
  key: syncKey('device', database, device),
});

const DEVICE_DIGITS = 32;
/** Length of the end mark of a text in a key. */
const END_LENGTH = 2;

/** The device id in a key that `deviceAddress` made. */
export function deviceOf(key: Key, database: DatabaseId): DeviceId {
  const device = key.slice(-DEVICE_DIGITS - END_LENGTH, -END_LENGTH);
  if (deviceAddress(database, device).key !== key) throw new Error('not the key of a device');
  return device;
}

/** @throws Suspended; SyncRefused `device_taken` */
export function deviceIn(
  reader: Reader,
  database: DatabaseId,
  device: DeviceId,
  owner: string,
): DeviceRecord | undefined {
  const record = recordIn(reader, deviceAddress(database, device)) as DeviceRecord | undefined;
  if (record && record.owner !== owner) throw deviceTaken();
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
  if (record?.protocol === SYNC_PROTOCOL) return record;
  throw new SyncRefused('epoch_changed', 'The hub does not know this device. Send hello first.');
}

export const deviceTaken = (): SyncRefused =>
  new SyncRefused('device_taken', 'This device id belongs to another user.');

export const deviceRow = (database: DatabaseId, device: DeviceId, record: DeviceRecord): Row =>
  recordRow(deviceAddress(database, device), record);

/** Time of the last contact, as far as the record shows it. */
export const lastMet = ({ seen, lastNow }: DeviceRecord): Micros => Math.max(seen, lastNow);

// --- devices of a person ----------------------------------------------------------------------------

export const ownedAddress = (
  database: DatabaseId,
  owner: string,
  device: DeviceId,
): RowAddress => ({ space: 'sync', key: syncKey('owned', database, owner, device) });

interface OwnedRecord {
  readonly seen: Micros;
}

export const ownedRow = (address: RowAddress, { seen }: DeviceRecord): Row =>
  recordRow(address, { seen } satisfies OwnedRecord);

/** Requires that the user may have another device. @throws Suspended; SyncRefused `too_many_devices` */
export function requireRoom(
  reader: Reader,
  { database, owner }: { readonly database: DatabaseId; readonly owner: string },
  now: Micros,
): void {
  const range = prefixRange(syncKey('owned', database, owner));
  const since = now - SYNC_LIMITS.devicesCountedMicros;
  const rows = reader.range(scan('sync', range, { limit: Number.MAX_SAFE_INTEGER }));
  const met = rows.filter(({ row }) => row && (readRecord(row) as OwnedRecord).seen > since);
  if (met.length < SYNC_LIMITS.devicesPerPerson) return;
  throw new SyncRefused(
    'too_many_devices',
    `This user has ${met.length} devices, which is as many as one user may have. A device that is not used for 30 days does not count.`,
  );
}
