/**
 * Whether the browser would store this many more bytes. This is tested because some browsers report a quota that is not the one that they
 * enforce.
 */

const GIB = 2 ** 30;
const NAME = 'burrow-room';

/**
 * Whether the reported quota is made up. Chromium reports the usage plus a whole number of GiB, whatever the quota is, so that sites learn
 * nothing about the disk: https://developer.chrome.com/blog/predictable-reported-storage-quota
 */
export const isSyntheticQuota = (usage: number, quota: number): boolean =>
  (quota - usage) % GIB === 0;

/** The part of `navigator.storage` that is used here; not every browser has it. */
type PrivateFiles = Partial<Pick<StorageManager, 'getDirectory'>>;

/**
 * Reserves the space and releases it at once, without writing. Other writes in these milliseconds can fail for lack of space only if they
 * would have left less space than is asked for.
 * @returns also true if the browser cannot be asked
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
