/** How long the browser means to keep what is stored here. */

/**
 * - `persistent`: until the user deletes it.
 * - `best-effort`: until the browser needs the space, or the site was not used for long.
 * - `session`: a private window: until it is closed.
 * - `none`: nothing can be stored.
 */
export type Persistence = 'persistent' | 'best-effort' | 'session' | 'none';

export async function probePersistence(): Promise<Persistence> {
  if (!('indexedDB' in globalThis)) return 'none';
  // Missing where the page is not secure: nothing can be asked there.
  if (!('storage' in navigator)) return 'best-effort';
  if (await navigator.storage.persisted().catch(() => false)) return 'persistent';
  return (await hasPrivateFiles()) ? 'best-effort' : 'session';
}

/** Firefox and Safari refuse the private file system in private windows. Chromium does not, and cannot be told apart. */
async function hasPrivateFiles(): Promise<boolean> {
  if (!('getDirectory' in navigator.storage)) return true;
  try {
    await navigator.storage.getDirectory();
    return true;
  } catch {
    return false;
  }
}
