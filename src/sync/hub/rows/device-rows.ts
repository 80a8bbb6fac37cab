/** What a hub knows of each device, for ever. */
import { syncKey } from '../../../codec/key.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { SYNC_PROTOCOL } from '../../protocol/messages.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import { recordIn, recordRow } from './records.ts';

export interface DeviceRecord {
  /** Whose it is: see `ownerOf`. */
  readonly owner: string;
  /** Number of the latest write that was judged. */
  readonly lastSeq: number;
  /** No write has an earlier `Now()`: that of the latest, or of the latest contact at which the device had nothing unsent. */
  readonly lastNow: Micros;
  /** Verdicts up to here are forgotten. */
  readonly forgotten: number;
  /** When it last said hello, to the day. */
  readonly seen: Micros;
  /** That it said hello in. Undefined: 1. */
  readonly protocol?: number;
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
