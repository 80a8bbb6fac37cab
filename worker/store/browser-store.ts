/** What a browser's stores offer in addition to the store port, and the code that they share. */
import type { Store } from '../../src/store/port.ts';
import { forgetLoss, STAMP_KEY } from './birth-stamp.ts';
import { deleteDatabase } from './idb-connection.ts';
import type { ConnectionOptions, ReconnectingConnection } from './reconnecting-connection.ts';
import { openOutsideMarker } from './outside-marker.ts';
import type { StoredDatabase } from './stored-database.ts';
import { removeMarksOf } from './write-mark.ts';

export interface BrowserStore
  extends Store, Pick<StoredDatabase, 'birth' | 'isNew' | 'loss' | 'acknowledgeLoss' | 'destroy'> {}

const META = { stores: ['meta'], durability: 'strict' } as const;

/** Stops reporting the loss that the store reported when it was opened. */
export const acknowledgeLoss = (reconnecting: ReconnectingConnection): Promise<void> =>
  reconnecting.change(META, async (tx) => {
    await forgetLoss(tx);
    reconnecting.requireBirth(await tx.raw('meta', STAMP_KEY));
  });

/** Deletes a database that is not open here, and everything that is stored for it outside IndexedDB. */
export async function destroyStore(
  name: string,
  { marker }: Pick<ConnectionOptions, 'marker'> = {},
): Promise<void> {
  const outside = marker === undefined ? await openOutsideMarker(name) : marker;
  // First, because a marker without a database looks like a loss.
  await outside?.remove();
  await deleteDatabase(name);
  // Again, because another tab may have written the marker before it was notified of the deletion.
  await outside?.remove();
  await removeMarksOf(name);
}
