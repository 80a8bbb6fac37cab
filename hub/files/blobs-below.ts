/** A view of a store of files that adds a prefix to all keys. Its user does not see the prefix or other keys. */
import type { BlobStore } from '../../src/sync/hub/files/blob-store.ts';

/** @param prefix must end in `/` */
export const blobsBelow = (prefix: string, store: BlobStore): BlobStore => ({
  put: (key, bytes) => store.put(prefix + key, bytes),
  get: (key) => store.get(prefix + key),
  async *list(below) {
    for await (const { key, putMs } of store.list(prefix + below))
      yield { key: key.slice(prefix.length), putMs };
  },
  delete: (keys) => store.delete(keys.map((key) => prefix + key)),
});
