/** A store whose reads are watched. */
import type { ReadTx, Store } from '../port.ts';

type Fetch = ReadTx['fetch'];

/** @param onFetch told what each fetch of a read asked for, and found */
export const watchedReads = (
  store: Store,
  onFetch: (found: Awaited<ReturnType<Fetch>>, asked: Parameters<Fetch>) => void,
): Store => ({
  ...store,
  read: (body, options) =>
    store.read(
      (tx) =>
        body({
          fetch: async (...asked) => {
            const found = await tx.fetch(...asked);
            onFetch(found, asked);
            return found;
          },
        }),
      options,
    ),
});
