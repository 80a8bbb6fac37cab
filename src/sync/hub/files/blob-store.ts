/** Stores the bytes of files at a hub: a folder or a bucket. */
export interface BlobStore {
  /** Atomic, and durable when it resolves. Replaces the blob under the key, if any. @throws SyncRefused `storage_full` */
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | undefined>;
  /** All blobs, or those whose keys begin with a prefix that ends in `/`. Blobs in the same directory come one after another. */
  list(prefix: string): AsyncIterable<StoredBlob>;
  /** Ignores keys that do not exist. */
  delete(keys: readonly string[]): Promise<void>;
}

export interface StoredBlob {
  readonly key: string;
  /** When it was stored, ms since the Unix epoch. */
  readonly putMs: number;
}

/** In memory, for tests. @param nowMs the clock for `putMs` */
export function createMemoryBlobs(nowMs: () => number): BlobStore & { readonly size: number } {
  const blobs = new Map<string, { readonly bytes: Uint8Array; readonly putMs: number }>();
  return {
    get size() {
      return blobs.size;
    },
    put: async (key, bytes) => void blobs.set(key, { bytes: bytes.slice(), putMs: nowMs() }),
    get: async (key) => blobs.get(key)?.bytes,
    async *list(prefix) {
      for (const key of [...blobs.keys()].sort()) {
        const blob = key.startsWith(prefix) ? blobs.get(key) : undefined;
        if (blob) yield { key, putMs: blob.putMs };
      }
    },
    delete: async (keys) => keys.forEach((key) => blobs.delete(key)),
  };
}
