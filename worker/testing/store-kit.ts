/** What tests of the browser's store share. */
import { metaKey } from '../../src/codec/key.ts';
import { headOf } from '../../src/engine/transact.ts';
import type { DexieStoreOptions } from '../dexie-store.ts';
import type { OutsideMarker } from '../outside-marker.ts';

/** A marker in memory, which tests may read and forge. */
export class MemoryMarker implements OutsideMarker {
  text: string | undefined;

  constructor(text?: string) {
    this.text = text;
  }

  async read(): Promise<string | undefined> {
    return this.text;
  }

  async write(text: string): Promise<void> {
    this.text = text;
  }

  async remove(): Promise<void> {
    this.text = undefined;
  }
}

export const HEAD_ROW: DexieStoreOptions['head'] = {
  address: { space: 'meta', key: metaKey('head') },
  read: headOf,
};

export const storeOptions = (more: Partial<DexieStoreOptions> = {}): DexieStoreOptions => ({
  head: HEAD_ROW,
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  marker: new MemoryMarker(),
  ...more,
});
