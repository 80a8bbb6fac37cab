/** Whether the browser would store so much more: some report a quota that is not the one that they enforce. */

const GIB = 2 ** 30;
const NAME = 'burrow-room';

/**
 * Chromium reports what is in use and some whole GiB more, whatever the quota is, so that sites learn nothing of the disk:
 * https://developer.chrome.com/blog/predictable-reported-storage-quota
 */
export const isMadeUp = (usage: number, quota: number): boolean => (quota - usage) % GIB === 0;

/** The part of `navigator.storage` that this needs; not every browser has it. */
type PrivateFiles = Partial<Pick<StorageManager, 'getDirectory'>>;

/**
 * Asks for the room and gives it back at once: nothing is written. What others write in these milliseconds can fail for want of it only where
 * it would have left less room than is asked for.
 * @returns true also where the browser cannot be asked
 */
export async function hasRoomFor(storage: PrivateFiles, bytes: number): Promise<boolean> {
  const folder = await storage.getDirectory?.().catch(() => undefined);
  if (!folder) return true;
  try {
    const file = await folder.getFileHandle(NAME, { create: true });
    const writing = await file.createWritable();
    try {
      await writing.truncate(Math.ceil(bytes));
    } finally {
      await writing.abort().catch(() => undefined);
      await folder.removeEntry(NAME).catch(() => undefined);
    }
    return true;
  } catch (reason) {
    return (
      !(reason instanceof Error || reason instanceof DOMException) ||
      reason.name !== 'QuotaExceededError'
    );
  }
}
