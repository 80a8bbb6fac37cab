/** A store that reports its reads. */
import type { ReadTx, Store } from '../port.ts';

type Fetch = ReadTx['fetch'];

/** @param onFetch called with the result and the arguments of each fetch of a read */
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
