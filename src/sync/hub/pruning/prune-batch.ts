/** What all pruning of the space `sync` shares. It uses small commits, so that no other write waits long. */
import { syncKey, syncNumberOf, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { Transactions } from '../../../engine/engine.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Range, Store } from '../../../store/port.ts';
import { scan } from '../../../store/scan.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';

export interface PruneHost {
  readonly store: Pick<Store, 'read'>;
  /** Of an engine over the store. */
  readonly transactions: Transactions;
  readonly clock: () => Micros;
  /** Called after each database, because a hub may have thousands, and others wait. */
  readonly pause: () => Promise<void>;
}

/** A range with as many rows as one commit deletes. */
export const pruneBatch = (lower: Key, upper: Key): Range =>
  scan('sync', { lower, upper }, { limit: SYNC_LIMITS.pruneRows, rows: false });

export interface DatabaseInList {
  readonly database: DatabaseId;
  /** The key of its first row in the list. */
  readonly first: Key;
}

/**
 * The databases that have rows in a list, in ascending order. Goes from each to the next one, so that the work depends on these only. Not
 * read through the engine, whose cache does not see the rows that commits add to the log of changes.
 * @param list whose keys begin with a database: docs/store-format.md
 */
export async function* databasesIn(
  { store, pause }: PruneHost,
  list: string,
): AsyncGenerator<DatabaseInList> {
  let range = prefixRange(syncKey(list));
  for (;;) {
    const next = scan('sync', range, { limit: 1, rows: false });
    const { ranges } = await store.read((tx) => tx.fetch([], [next]), { spaces: ['sync'] });
    const first = ranges[0]?.[0]?.key;
    if (first === undefined) return;
    const database = syncNumberOf(first, list);
    yield { database, first };
    range = { ...range, lower: prefixRange(syncKey(list, database)).upper };
    await pause();
  }
}
