/** Stores the bytes of files in a bucket of an S3-compatible store. */
import { setTimeout as wait } from 'node:timers/promises';
import { S3mini, S3ServiceError } from 's3mini';
import { Refusal } from '../../src/errors.ts';
import type { BlobStore } from '../../src/sync/hub/files/blob-store.ts';

export interface BucketOptions {
  /** The URL of the bucket: https://host/bucket */
  readonly url: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

const LISTED_AT_ONCE = 1000;
const DEADLINE_MS = 30_000;
const TRIES = 4;
const FIRST_WAIT_MS = 100;

export function openBucketBlobs({ url, region, keyId, secret }: BucketOptions): BlobStore {
  const bucket = new S3mini({
    endpoint: url,
    region,
    accessKeyId: keyId,
    secretAccessKey: secret,
    requestAbortTimeout: DEADLINE_MS,
  });
  return {
    async put(key, bytes) {
      await retried(() => bucket.putObject(key, bytes, 'application/octet-stream'));
    },
    async get(key) {
      const found = await retried(() => bucket.getObjectArrayBuffer(key));
      return found ? new Uint8Array(found) : undefined;
    },
    async *list(prefix) {
      for (let next: string | undefined; ;) {
        const after = next;
        // The client takes the first argument for a path. It requests no delimiter, so everything below the prefix is listed.
        const page = await retried(() =>
          bucket.listObjectsPaged('/', prefix, LISTED_AT_ONCE, after),
        );
        if (!page?.objects) throw new Error(`There is no bucket at ${url}.`);
        for (const { Key: key, LastModified } of page.objects)
          yield { key, putMs: new Date(LastModified).getTime() };
        next = page.nextContinuationToken;
        if (next === undefined || next === '') return;
      }
    },
    async delete(keys) {
      if (keys.length === 0) return;
      await retried(async () => {
        const isDeleted = await bucket.deleteObjects([...keys]);
        // Some stores report keys that did not exist as not deleted.
        for (const [at, key] of keys.entries())
          if (isDeleted[at] !== true && (await bucket.objectExists(key)) !== false)
            throw new Error(`The bucket refuses to delete ${key}.`);
      });
    },
  };
}

/**
 * Retries when the store is busy or cannot be reached. Puts and deletes may be repeated without harm.
 * @throws Refusal `storage_unavailable` when all tries have failed
 */
async function retried<T>(ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await ask();
    } catch (reason) {
      if (reason instanceof S3ServiceError && !isPassing(reason)) throw reason;
      if (tried === TRIES)
        throw new Refusal('storage_unavailable', 'The file store does not respond: try again.', {
          cause: reason,
        });
      await wait(FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random()));
    }
  }
}

const PASSING: ReadonlySet<number> = new Set([408, 429]);

/** Amazon reports an upload that was too slow with status 400. */
const isPassing = ({ status, code }: S3ServiceError): boolean =>
  status >= 500 || PASSING.has(status) || code === 'RequestTimeout';
