/** The route of files, and the removal of files that no document refers to. */
import type { HubRoute } from '../http/route.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import type { HubSettings } from '../settings/settings.ts';
import { HUB_LIMITS, SYNC_LIMITS } from '../../src/limits.ts';
import type { BlobStore } from '../../src/sync/hub/files/blob-store.ts';
import { FileHub } from '../../src/sync/hub/files/file-hub.ts';
import { answerFiles, FILES_PREFIX, isChunkPath, isFilePath } from './answer-files.ts';

/** If several hubs share a bucket, each of them does this: that costs requests but does no harm. */
const SWEEP_MS = 6 * 3_600_000;
/**
 * For this long after a restore from a dump, devices may submit documents again that the hub has lost. These refer to files that
 * the hub still has. See `WRITES_KEPT`.
 */
const KEPT_RESTORED_MS = 7 * 86_400_000;

export interface FilesRoute extends HubRoute {
  /**
   * Removes files that no document has referred to for a day. Removes nothing in the first week after a restore. @returns the
   * number of removed files
   */
  sweep(): Promise<number>;
  close(): void;
}

export function createFilesRoute(
  hub: Pick<OpenedHub, 'engine' | 'http' | 'authentication' | 'restoredMs'>,
  blobs: BlobStore | undefined,
  { fileBytes }: Pick<HubSettings, 'fileBytes'>,
): FilesRoute {
  const { engine, authentication, http, restoredMs } = hub;
  const files =
    blobs &&
    new FileHub({
      ...authentication,
      engine,
      clock: http.clock,
      blobs,
      fileBytes,
      report: http.report,
    });
  const sweep = async (): Promise<number> => {
    const nowMs = http.clock() / 1000;
    if (!files || nowMs < restoredMs + KEPT_RESTORED_MS) return 0;
    return files.sweep(nowMs - SYNC_LIMITS.filesKeptMs);
  };
  const timer = setInterval(() => {
    sweep().catch((reason: unknown) => http.report?.(reason));
  }, SWEEP_MS).unref();
  return {
    prefix: FILES_PREFIX,
    // Exported logs have paths with the same prefix, but their ids are UUIDs.
    takes: isFilePath,
    readsBytes: true,
    bodyValues: (path) => (isChunkPath(path) ? Infinity : HUB_LIMITS.messageValues),
    handle: (request) => answerFiles(request, files),
    sweep,
    close: () => clearInterval(timer),
  };
}
