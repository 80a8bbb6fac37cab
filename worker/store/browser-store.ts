/** What stores of a browser offer beside the port, and what they do alike. */
import type { Store } from '../../src/store/port.ts';
import { forgetLoss, STAMP_KEY, type Loss } from './birth-stamp.ts';
import { deleteDatabase } from './idb-connection.ts';
import type { ConnectionOptions, ReconnectingConnection } from './reconnecting-connection.ts';
import { NativeTransaction } from './native-transaction.ts';
import { openOutsideMarker } from './outside-marker.ts';
import { dropping } from './row-transactions.ts';
import { removeMarksOf } from './write-mark.ts';

export interface BrowserStore extends Store {
  /** Mark of this database, made with it. */
  readonly birth: string;
  /** It was made by being opened. */
  readonly isNew: boolean;
  /** What had been lost when the store was opened; until `acknowledgeLoss()` also at the next open. */
  readonly loss: Loss | undefined;
  acknowledgeLoss(): Promise<void>;
  /** Closes the store and deletes the database and all that is kept outside it. */
  destroy(): Promise<void>;
}

const META = { stores: ['meta'], mode: 'readwrite', durability: 'strict' } as const;

/** The loss that a store reported when it was opened is not reported again. */
export const acknowledgeLoss = (reconnecting: ReconnectingConnection): Promise<void> =>
  reconnecting.run(async (connection) => {
    const tx = await reconnecting.begin(
      connection,
      (idb, watched) => new NativeTransaction(idb, { ...META, ...watched }),
    );
    await forgetLoss(tx)
      .then(async () => reconnecting.requireBirth(await tx.raw('meta', STAMP_KEY)))
      .catch(dropping(tx));
    await tx.commit();
  });

/** Deletes a database that is not open here, and all that is kept outside it. */
export async function destroyStore(
  name: string,
  { marker }: Pick<ConnectionOptions, 'marker'> = {},
): Promise<void> {
  const outside = marker === undefined ? await openOutsideMarker(name) : marker;
  // First: a marker without a database would be taken for a loss.
  await outside?.remove();
  await deleteDatabase(name);
  // Another tab may have written it anew until it was notified of the deletion.
  await outside?.remove();
  await removeMarksOf(name);
}
