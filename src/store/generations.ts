/**
 * A bounded cache in two generations: values are put into the recent one; when it is full, it becomes the former one, and what
 * the former one held is evicted. A value used again is put into the recent one by its user, so it stays: nearly LRU, at the cost
 * of a map.
 */

/** The part of `Map` and `WeakMap` that is used. */
interface Table<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
  delete(key: K): boolean;
}

export class Generations<K, V> {
  private readonly weightMax: number;
  private readonly makeTable: () => Table<K, V>;
  private young: Table<K, V>;
  private old: Table<K, V>;
  private youngWeight = 0;

  /**
   * @param weightMax of both generations together, in the unit of the weights given to `put`
   * @param makeTable a `Map`, or a `WeakMap` for values that live as long as their keys
   */
  constructor(weightMax: number, makeTable: () => Table<K, V>) {
    this.weightMax = weightMax;
    this.makeTable = makeTable;
    this.young = makeTable();
    this.old = makeTable();
  }

  /** The value of a key in the recent generation. */
  recent(key: K): V | undefined {
    return this.young.get(key);
  }

  /** The value of a key in the former generation: `put` it to keep it. */
  former(key: K): V | undefined {
    return this.old.get(key);
  }

  /** @param weight added by it: of a value that is there already, only what it has grown by */
  put(key: K, value: V, weight: number): void {
    this.young.set(key, value);
    this.youngWeight += weight;
    if (this.youngWeight <= this.weightMax / 2) return;
    this.old = this.young;
    this.young = this.makeTable();
    this.youngWeight = 0;
  }

  /** @param weight that it had in the recent generation */
  delete(key: K, weight = 0): void {
    this.young.delete(key);
    this.old.delete(key);
    this.youngWeight -= weight;
  }

  clear(): void {
    this.young = this.makeTable();
    this.old = this.makeTable();
    this.youngWeight = 0;
  }
}
