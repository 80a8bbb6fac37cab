/**
 * A browser can lose all of IndexedDB and say nothing. The mark that a database got when it was made is kept a second time,
 * here: when the two differ, data was lost.
 */

const keyOf = (name: string): string => `burrow:birth:${name}`;

export const readBirth = (name: string): string | undefined =>
  withStorage((storage) => storage.getItem(keyOf(name)) ?? undefined);

export const writeBirth = (name: string, birth: string): void =>
  withStorage((storage) => storage.setItem(keyOf(name), birth));

export const forgetBirth = (name: string): void =>
  withStorage((storage) => storage.removeItem(keyOf(name)));

/** Undefined where there is no storage, or the user forbids it: then a loss cannot be seen. */
function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return typeof localStorage === 'undefined' ? undefined : use(localStorage);
  } catch {
    return undefined;
  }
}
