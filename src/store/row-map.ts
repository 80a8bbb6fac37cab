/** A map with row addresses as keys. Nested maps, because a key made of space and row key would have to be built for each lookup. */
import type { Key } from '../codec/key.ts';
import type { RowAddress, Space } from './port.ts';

export class RowMap<V> {
  private readonly bySpace = new Map<Space, Map<Key, V>>();

  get({ space, key }: RowAddress): V | undefined {
    return this.bySpace.get(space)?.get(key);
  }

  has({ space, key }: RowAddress): boolean {
    return this.bySpace.get(space)?.has(key) ?? false;
  }

  set({ space, key }: RowAddress, value: V): void {
    const values = this.bySpace.get(space);
    if (values) values.set(key, value);
    else this.bySpace.set(space, new Map([[key, value]]));
  }

  delete({ space, key }: RowAddress): boolean {
    return this.bySpace.get(space)?.delete(key) ?? false;
  }
}
