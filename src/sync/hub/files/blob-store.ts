/** Where a hub keeps the bytes of files: a folder, or a bucket. */
export interface BlobStore {
  /** Whole or not at all, and durable when it resolves; what was there is replaced. @throws SyncRefused `storage_full` */
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | undefined>;
  /** Those whose keys begin with a prefix that ends in `/`, or all. Those with one directory come one after another. */
  list(prefix: string): AsyncIterable<StoredBlob>;
  /** Keys that are not there are no error. */
  delete(keys: readonly string[]): Promise<void>;
}

export interface StoredBlob {
  readonly key: string;
  /** When it was put, ms since 1970. */
  readonly putMs: number;
}

/** For tests. @param nowMs for `putMs` */
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
