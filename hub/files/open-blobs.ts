/** Opens the store of files that the settings name. */
import { join } from 'node:path';
import { createMemoryBlobs, type BlobStore } from '../../src/sync/hub/files/blob-store.ts';
import { SettingsFault } from '../settings/option-values.ts';
import type { HubSettings } from '../settings/settings.ts';
import { isMemory } from '../sql/pglite-database.ts';
import { openBucketBlobs } from './bucket-blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';

export interface OpenedBlobs {
  readonly blobs: BlobStore;
  readonly describe: string;
}

/** @returns undefined when the hub keeps no files @throws SettingsFault */
export async function openBlobs(
  { files, data, postgres }: Pick<HubSettings, 'files' | 'data' | 'postgres'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<OpenedBlobs | undefined> {
  if (files !== undefined && /^https?:/.test(files)) {
    const keyId = environment['AWS_ACCESS_KEY_ID'];
    const secret = environment['AWS_SECRET_ACCESS_KEY'];
    if (keyId === undefined || secret === undefined)
      throw new SettingsFault(
        '--files names a bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.',
      );
    const region = environment['AWS_REGION'] ?? 'us-east-1';
    return {
      blobs: openBucketBlobs({ url: files, region, keyId, secret }),
      describe: `the bucket ${files}`,
    };
  }
  if (files === undefined && postgres === undefined && isMemory(data))
    return { blobs: createMemoryBlobs(Date.now), describe: 'memory' };
  const folder = files ?? (postgres === undefined ? join(data, 'files') : undefined);
  return folder === undefined
    ? undefined
    : { blobs: await openFolderBlobs(folder), describe: folder };
}
