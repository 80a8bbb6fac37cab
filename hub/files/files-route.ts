/** The route of files, and the removal of those that no document refers to. */
import type { HubRoute } from '../http/route.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import type { HubSettings } from '../settings/settings.ts';
import { HUB_LIMITS, SYNC_LIMITS } from '../../src/limits.ts';
import type { BlobStore } from '../../src/sync/hub/files/blob-store.ts';
import { FileHub } from '../../src/sync/hub/files/file-hub.ts';
import { answerFiles, FILES_PREFIX, isChunkPath, isFilePath } from './answer-files.ts';

/** Several hubs over one bucket may all do it: that costs requests and does no harm. */
const SWEEP_MS = 6 * 3_600_000;
/** So long devices may bring back documents that a hub has lost which was restored: they refer to files that it has. See `WRITES_KEPT`. */
const KEPT_RESTORED_MS = 7 * 86_400_000;

export interface FilesRoute extends HubRoute {
  /** Removes what no document has referred to for a day; of a hub that was restored, nothing for a week. @returns how many files */
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
    // Below it are exported logs too: their ids are UUIDs.
    takes: isFilePath,
    readsBytes: true,
    bodyValues: (path) => (isChunkPath(path) ? Infinity : HUB_LIMITS.messageValues),
    handle: (request) => answerFiles(request, files),
    sweep,
    close: () => clearInterval(timer),
  };
}
