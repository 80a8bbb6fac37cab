/** Opens the store of files that the settings select. */
import { join, resolve } from 'node:path';
import { messageOf } from '../../hosts/node-errors.ts';
import { createMemoryBlobs, type BlobStore } from '../../src/sync/hub/files/blob-store.ts';
import { SettingsFault, TENANT_DEFAULT } from '../settings/option-values.ts';
import type { HubSettings } from '../settings/settings.ts';
import { isMemory } from '../sql/pglite-database.ts';
import { blobsBelow } from './blobs-below.ts';
import { openBucketBlobs } from './bucket-blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';

export interface OpenedBlobs {
  readonly blobs: BlobStore;
  readonly describe: string;
}

type Named = Pick<HubSettings, 'files' | 'data' | 'postgres' | 'tenant'>;
type Environment = Readonly<Record<string, string | undefined>>;

/** @returns undefined if the hub has no store of files @throws SettingsFault */
export async function openBlobs(
  settings: Named,
  environment: Environment,
): Promise<OpenedBlobs | undefined> {
  const opened = await openAll(settings, environment);
  const { tenant } = settings;
  if (!opened || tenant === TENANT_DEFAULT) return opened;
  // Each hub has its own prefix, because it removes files that none of its own documents refers to.
  return { ...opened, blobs: blobsBelow(`tenants/${tenant}/`, opened.blobs) };
}

async function openAll(
  { files, data, postgres }: Named,
  environment: Environment,
): Promise<OpenedBlobs | undefined> {
  if (files !== undefined && /^https?:/.test(files)) {
    const keyId = environment['AWS_ACCESS_KEY_ID'];
    const secret = environment['AWS_SECRET_ACCESS_KEY'];
    if (!keyId || !secret)
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
  if (folder === undefined) return undefined;
  try {
    return { blobs: await openFolderBlobs(folder), describe: resolve(folder) };
  } catch (reason) {
    throw new SettingsFault(
      `Cannot keep files in ${resolve(folder)} (--files): ${messageOf(reason)}`,
    );
  }
}
