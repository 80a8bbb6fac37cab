/** Removes the rows that a move has copied, in slices, when the database is opened next. Several tabs may do so at once. */
import { COPIED } from '../../../src/packed/copy-rows.ts';
import type { PackedStore } from '../../../src/packed/packed-store.ts';
import { isStamp, STAMP_KEY } from '../birth-stamp.ts';
import type { ReconnectingConnection } from '../reconnecting-connection.ts';
import { rowsOnly } from './flip-layout.ts';

const SLICE_ROWS = 500;

/** Object stores whose rows are no longer used. The stamp of `meta` is, so it stays. */
const FORMER = ['documents', 'history', 'sync', 'meta'];

const RELAXED = { durability: 'relaxed' } as const;

export interface RemovalOptions {
  readonly connection: ReconnectingConnection;
  readonly packed: PackedStore;
  readonly pause: () => Promise<void>;
  /** Called before each slice. */
  readonly isStopped: () => boolean;
}

export async function removeFormerRows(options: RemovalOptions): Promise<void> {
  const { connection, packed, pause, isStopped } = options;
  await connection.mark();
  for (const name of FORMER)
    for (let isMore = true; isMore;) {
      if (isStopped()) return;
      isMore = await removeSlice(connection, name, name === 'meta' ? rowsOnly() : undefined);
      await pause();
    }
  if (isStopped()) return;
  const { space, key } = COPIED;
  await packed.write(async (tx) => tx.apply({ puts: [], deletes: [{ space, key }] }), {
    ...RELAXED,
    spaces: [space],
  });
  await recordRemoval(connection);
}

/** Returns false when no rows are left. */
const removeSlice = (
  connection: ReconnectingConnection,
  store: string,
  range: IDBKeyRange | undefined,
): Promise<boolean> =>
  connection.change({ ...RELAXED, stores: [store] }, async (tx) => {
    const keys = await tx.answer((each) => each.getAllKeys(range, SLICE_ROWS), store);
    const [first] = keys;
    const last = keys.at(-1);
    if (first === undefined || last === undefined) return false;
    await tx.change((each) => each.delete(IDBKeyRange.bound(first, last)), store);
    return keys.length === SLICE_ROWS;
  });

const recordRemoval = (connection: ReconnectingConnection): Promise<void> =>
  connection.change({ ...RELAXED, stores: ['meta'] }, async (tx) => {
    const stamp = await tx.raw('meta', STAMP_KEY);
    if (!isStamp(stamp)) return;
    const { formerRows: _, ...rest } = stamp;
    tx.putRaw('meta', rest);
  });
