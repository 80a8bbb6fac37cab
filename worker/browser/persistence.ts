import type { Persistence } from '../../src/states.ts';

/** How long the browser intends to keep what is stored here. */
export async function probePersistence(): Promise<Persistence> {
  if (!('indexedDB' in globalThis)) return 'none';
  // `navigator.storage` is missing on insecure pages and in some builds of WebKit. There, a private window cannot be told from a normal
  // one.
  if (!('storage' in navigator)) return 'unknown';
  if (await navigator.storage.persisted().catch(() => false)) return 'persistent';
  return (await hasPrivateFiles()) ? 'best-effort' : 'session';
}

/**
 * Firefox and Safari reject access to the origin private file system in private windows. Chromium does not, so its private windows are
 * not detected.
 */
async function hasPrivateFiles(): Promise<boolean> {
  if (!('getDirectory' in navigator.storage)) return true;
  try {
    await navigator.storage.getDirectory();
    return true;
  } catch {
    return false;
  }
}
