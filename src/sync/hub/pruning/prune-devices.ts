/** Deletes the data of devices that have had no contact with the hub for a long time. */
import { syncKey } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Entry } from '../../../store/port.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { rangeAfter, scan } from '../../../store/scan.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import { scopeAddress } from '../rights/scope.ts';
import {
  deviceAddress,
  deviceOf,
  lastMet,
  ownedAddress,
  type DeviceRecord,
} from '../rows/device-rows.ts';
import { readRecord, recordIn } from '../rows/records.ts';
import { databasesIn, pruneBatch, type PruneHost } from './prune-batch.ts';

/**
 * @param before devices whose last contact was earlier are deleted
 * @returns how many devices were deleted
 */
export async function pruneDevices(host: PruneHost, before: Micros): Promise<number> {
  let pruned = 0;
  for await (const { database } of databasesIn(host, 'device'))
    for await (const device of idleDevices(host, database, before))
      if (await forget(host, database, device, before)) pruned += 1;
  return pruned;
}

async function* idleDevices({ transactions }: PruneHost, database: DatabaseId, before: Micros) {
  const all = prefixRange(syncKey('device', database));
  let range = scan('sync', all, { limit: SYNC_LIMITS.pruneRows });
  for (;;) {
    const { value: entries } = await transactions.read(({ writer }) => ({
      value: writer.range(range),
    }));
    for (const entry of entries) if (isIdle(entry, before)) yield deviceOf(entry.key, database);
    const last = entries.at(-1);
    if (!last || entries.length < SYNC_LIMITS.pruneRows) return;
    range = rangeAfter(range, last);
  }
}

const isIdle = ({ row }: Entry, before: Micros): boolean =>
  row !== undefined && lastMet(readRecord(row) as DeviceRecord) < before;

/** Deletes verdicts first and the record last: if this is interrupted, the next run finds the device by its record. */
async function forget(
  { transactions, clock }: PruneHost,
  database: DatabaseId,
  device: DeviceId,
  before: Micros,
): Promise<boolean> {
  const address = deviceAddress(database, device);
  const verdicts = prefixRange(syncKey('verdict', database, device));
  for (;;) {
    const { value } = await transactions.write(({ writer, head }) => {
      const record = recordIn(writer, address) as DeviceRecord | undefined;
      const ts = Math.max(clock(), head) + 1;
      // The device has had contact in the meantime.
      if (!record || lastMet(record) >= before) return { value: 'kept' };
      const found = writer.range(pruneBatch(verdicts.lower, verdicts.upper));
      for (const { key } of found) writer.delete('sync', key);
      if (found.length === SYNC_LIMITS.pruneRows) return { value: 'more', ts };
      for (const { key } of [
        scopeAddress(database, device),
        ownedAddress(database, record.owner, device),
        address,
      ])
        writer.delete('sync', key);
      return { value: 'forgotten', ts };
    });
    if (value !== 'more') return value === 'forgotten';
  }
}
