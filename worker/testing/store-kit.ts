/** Test kit for the browser's stores. */
import { metaKey } from '../../src/codec/key.ts';
import { headOf } from '../../src/engine/transactions.ts';
import type { IndexedDbStoreOptions } from '../store/indexed-db-store.ts';
import type { OutsideMarker } from '../store/outside-marker.ts';

/** A marker in memory, which tests may read and forge. */
export class MemoryMarker implements OutsideMarker {
  text: string | undefined;
  private readonly listeners = new Set<(text: string) => unknown>();

  constructor(text?: string) {
    this.text = text;
  }

  async read(): Promise<string | undefined> {
    return this.text;
  }

  async write(text: string): Promise<void> {
    this.text = text;
    for (const listener of this.listeners) listener(text);
  }

  /** Resolves when a matching text is written. */
  until(isIt: (text: string) => boolean): Promise<void> {
    if (this.text !== undefined && isIt(this.text)) return Promise.resolve();
    return new Promise((resolve) => {
      this.listeners.add((text) => isIt(text) && resolve());
    });
  }

  async remove(): Promise<void> {
    this.text = undefined;
  }
}

export const HEAD_ROW: IndexedDbStoreOptions['head'] = {
  address: { space: 'meta', key: metaKey('head') },
  read: headOf,
};

export const storeOptions = (more: Partial<IndexedDbStoreOptions> = {}): IndexedDbStoreOptions => ({
  head: HEAD_ROW,
  marker: new MemoryMarker(),
  ...more,
});

let names = 0;
export const freshName = (): string => `test-${Date.now().toString(36)}-${(names += 1)}`;
