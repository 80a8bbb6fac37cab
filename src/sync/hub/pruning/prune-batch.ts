/** What all pruning of the space `sync` shares. It uses small commits, so that no other write waits long. */
import type { Key } from '../../../codec/key.ts';
import type { Transactions } from '../../../engine/engine.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Range, Store } from '../../../store/port.ts';
import { scan } from '../../../store/scan.ts';
import type { Micros } from '../../../values/value.ts';

export interface PruneHost {
  readonly store: Pick<Store, 'read'>;
  /** Of an engine over the store. */
  readonly transactions: Transactions;
  readonly clock: () => Micros;
}

/** A range with as many rows as one commit deletes. */
export const pruneBatch = (lower: Key, upper: Key): Range =>
  scan('sync', { lower, upper }, { limit: SYNC_LIMITS.pruneRows, rows: false });
