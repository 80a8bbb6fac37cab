/** The epoch of a hub's store. Messages of another epoch belong to another history. */
import { hexOfBytes } from '../../../codec/hex.ts';
import { metaKey } from '../../../codec/key.ts';
import type { RowAddress, Store } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { Epoch } from '../../protocol/identifiers.ts';
import { SyncRefused } from '../../protocol/refusals.ts';

/** Written when the store is first opened, and replaced when it is restored from a backup. */
export const EPOCH: RowAddress = { space: 'meta', key: metaKey('epoch') };

const META = { spaces: ['meta'], durability: 'strict' } as const;

/** The epoch of the store. Creates one if there is none. */
export async function prepareEpoch(
  store: Store,
  random: (bytes: number) => Uint8Array,
): Promise<Epoch> {
  const made = hexOfBytes(random(16));
  return store.write(async (tx) => {
    const { rows } = await tx.fetch([EPOCH], []);
    const known = rows[0]?.value;
    if (typeof known === 'string') return known;
    const row = { key: EPOCH.key, entries: [], value: made };
    tx.apply({ puts: [{ space: EPOCH.space, row }], deletes: [] });
    return made;
  }, META);
}

/** @throws Suspended */
export function epochIn(reader: Reader): Epoch {
  const row = reader.row(EPOCH);
  if (typeof row?.value !== 'string') throw new Error('The store of the hub has no epoch.');
  return row.value;
}

/** @throws Suspended, SyncRefused `epoch_changed` if the device has another epoch */
export function requireEpoch(reader: Reader, given: Epoch): Epoch {
  const epoch = epochIn(reader);
  if (epoch === given) return epoch;
  throw new SyncRefused('epoch_changed', 'The hub was restored from a backup. Send hello first.');
}
