/** The keys with which devices make ids, and the hub's own key from which they are derived and which is never sent. */
import { hexOfBytes } from '../../../codec/hex.ts';
import { metaKey } from '../../../codec/key.ts';
import { hexHash, type Sha256 } from '../../../codec/sha256.ts';
import { isSameText } from '../../../engine/access.ts';
import type { RowAddress, Store } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { IdKey } from '../../protocol/device-ids.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';

/**
 * Written when the store is first opened. Unlike the epoch it is part of backups, so that ids which devices have made remain valid after a
 * restore from any of them.
 */
const ID_KEY: RowAddress = { space: 'meta', key: metaKey('id key') };

const ID_KEY_BYTES = 32;

const META = { spaces: ['meta'], durability: 'strict' } as const;

/** Creates the key if there is none. */
export async function prepareIdKey(
  store: Store,
  random: (bytes: number) => Uint8Array,
): Promise<void> {
  await store.write(async (tx) => {
    const { rows } = await tx.fetch([ID_KEY], []);
    if (rows[0]) return;
    const row = { key: ID_KEY.key, entries: [], value: hexOfBytes(random(ID_KEY_BYTES)) };
    tx.apply({ puts: [{ space: ID_KEY.space, row }], deletes: [] });
  }, META);
}

/** @throws Suspended */
export function hubKeyIn(reader: Reader): string {
  const row = reader.row(ID_KEY);
  if (typeof row?.value !== 'string') throw new Error('The store of the hub has no id key.');
  return row.value;
}

const DEVICE_DIGITS = 32;

/** The device id, followed by a hash that only the hub can compute, so that the hub need not store the keys it has given out. */
export const idKeyOf = (
  hubKey: string,
  { owner, device }: { readonly owner: string; readonly device: DeviceId },
  sha256: Sha256,
): IdKey => device + hexHash(`${hubKey} ${owner} ${device}`, sha256).slice(0, DEVICE_DIGITS);

/** Whether the hub gave the key to any device of this user: a copy that takes a new device id keeps its writes, made with the old key. */
export const isIdKeyOf = (owner: string, key: IdKey, hubKey: string, sha256: Sha256): boolean =>
  isSameText(idKeyOf(hubKey, { owner, device: key.slice(0, DEVICE_DIGITS) }, sha256), key);
