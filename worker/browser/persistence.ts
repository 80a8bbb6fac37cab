import type { Persistence } from '../../src/states.ts';

/** How long the browser means to keep what is stored here. */
export async function probePersistence(): Promise<Persistence> {
  if (!('indexedDB' in globalThis)) return 'none';
  // Missing where the page is not secure, and in builds of WebKit without it: a private window looks like any other there.
  if (!('storage' in navigator)) return 'unknown';
  if (await navigator.storage.persisted().catch(() => false)) return 'persistent';
  return (await hasPrivateFiles()) ? 'best-effort' : 'session';
}

/** Firefox and Safari refuse the private file system in private windows. Chromium does not, and cannot be recognized. */
async function hasPrivateFiles(): Promise<boolean> {
  if (!('getDirectory' in navigator.storage)) return true;
  try {
    await navigator.storage.getDirectory();
    return true;
  } catch {
    return false;
  }
}
