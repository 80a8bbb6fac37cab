/**
 * A bounded cache with two generations. New values go into the recent one. When the recent one is full, it becomes the former one,
 * and everything in the previous former one is evicted. A user that reads a value from the former one puts it into the recent one
 * again, so values in use are kept. This is nearly LRU, at the cost of a map.
 */

/** The part of `Map` and `WeakMap` that this cache uses. */
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
   * @param makeTable makes a `Map`, or a `WeakMap` if values must live only as long as their keys
   */
  constructor(weightMax: number, makeTable: () => Table<K, V>) {
    this.weightMax = weightMax;
    this.makeTable = makeTable;
    this.young = makeTable();
    this.old = makeTable();
  }

  /** The value of a key, if it is in the recent generation. */
  recent(key: K): V | undefined {
    return this.young.get(key);
  }

  /** The value of a key, if it is in the former generation. Call `put` with it to keep it. */
  former(key: K): V | undefined {
    return this.old.get(key);
  }

  /** @param weight the weight that this adds: for a value that is in the recent generation already, only its growth */
  put(key: K, value: V, weight: number): void {
    this.young.set(key, value);
    this.youngWeight += weight;
    if (this.youngWeight <= this.weightMax / 2) return;
    this.old = this.young;
    this.young = this.makeTable();
    this.youngWeight = 0;
  }

  /** @param weight the weight of the value in the recent generation; 0 if it is not there */
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
