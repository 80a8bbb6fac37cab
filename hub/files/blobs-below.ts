/** Part of a store of files: what has keys with a prefix, which its user does not see. */
import type { BlobStore } from '../../src/sync/hub/files/blob-store.ts';

/** @param prefix ends in `/` */
export const blobsBelow = (prefix: string, store: BlobStore): BlobStore => ({
  put: (key, bytes) => store.put(prefix + key, bytes),
  get: (key) => store.get(prefix + key),
  async *list(below) {
    for await (const { key, putMs } of store.list(prefix + below))
      yield { key: key.slice(prefix.length), putMs };
  },
  delete: (keys) => store.delete(keys.map((key) => prefix + key)),
});
