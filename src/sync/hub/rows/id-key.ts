/** Keys that devices make ids with, and that of the hub, never sent, which it makes them of. */
import { hexOfBytes } from '../../../codec/hex.ts';
import { metaKey } from '../../../codec/key.ts';
import { utf8Bytes } from '../../../codec/utf8.ts';
import { isSameText } from '../../../engine/access.ts';
import type { RowAddress, Store } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { IdKey } from '../../protocol/device-ids.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';

/**
 * Written when the store is first opened, and unlike the epoch part of its backups: after a restore from any of them, ids that devices
 * made before are still theirs.
 */
const ID_KEY: RowAddress = { space: 'meta', key: metaKey('id key') };

const ID_KEY_BYTES = 32;

const META = { spaces: ['meta'], durability: 'strict' } as const;

/** Makes one when there is none. */
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

type Sha256 = (bytes: Uint8Array) => Uint8Array;

const DEVICE_DIGITS = 32;

/** The id of the device, then what only the hub can compute: so it needs no list of the keys that it has given. */
export const idKeyOf = (
  hubKey: string,
  { owner, device }: { readonly owner: string; readonly device: DeviceId },
  sha256: Sha256,
): IdKey =>
  device + hexOfBytes(sha256(utf8Bytes(`${hubKey} ${owner} ${device}`))).slice(0, DEVICE_DIGITS);

/** Whether the hub has given it to a device of this person, whichever: a copy keeps its writes when it takes another device id. */
export const isIdKeyOf = (owner: string, key: IdKey, hubKey: string, sha256: Sha256): boolean =>
  isSameText(idKeyOf(hubKey, { owner, device: key.slice(0, DEVICE_DIGITS) }, sha256), key);
