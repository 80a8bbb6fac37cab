/** The epoch of a store: all that was said under another one is of another history. */
import { hexOfBytes } from '../../../codec/hex.ts';
import type { Store } from '../../../store/port.ts';
import type { Epoch } from '../../protocol/identifiers.ts';
import { EPOCH } from './device-rows.ts';

const META = { spaces: ['meta'], durability: 'strict' } as const;

/** The one that is there, or a new one. */
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
