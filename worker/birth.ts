/**
 * Browsers can lose a whole database and go on with an empty one. A mark made with the database is read again in each
 * transaction that writes: where it is missing or another, nothing is written.
 */
import { metaKey } from '../src/codec/key.ts';
import { Refusal } from '../src/errors.ts';
import type { RowAddress, Store } from '../src/store/port.ts';

const MARK: RowAddress = { space: 'meta', key: metaKey('birth') };

/** The mark of the database; a new one when it has none, as one has that was made just now. */
export function readOrMakeBirth(store: Store, makeMark: () => string): Promise<string> {
  return store.write(
    async (tx) => {
      const { rows } = await tx.fetch([MARK], []);
      const known = rows[0]?.value;
      if (typeof known === 'string') return known;
      const value = makeMark();
      tx.apply({
        puts: [{ space: MARK.space, row: { key: MARK.key, entries: [], value } }],
        deletes: [],
      });
      return value;
    },
    { durability: 'strict' },
  );
}

/** The same store, which refuses to write once the data under it is not what it was. */
export function guardBirth(store: Store, birth: string, onLoss: () => void): Store {
  return {
    read: (body, options) => store.read(body, options),
    write: (body, options) =>
      store.write(async (tx) => {
        const asked = tx.fetch([MARK], []);
        const [result, { rows }] = await Promise.all([body(tx), asked]);
        if (rows[0]?.value === birth) return result;
        onLoss();
        throw new Refusal(
          'local_data_loss',
          'The stored data of this database is gone: the browser deleted it while the database was open. Close it and open it anew.',
        );
      }, options),
    close: () => store.close(),
  };
}
