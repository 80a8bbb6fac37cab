/** The baseline: hand-written IndexedDB code, one store with three native indexes. A BroadcastChannel tells other tabs to read again. */
import type { Contender, ContenderInfo, Doc, DocPage } from '../page/contender.ts';

export const info: ContenderInfo = {
  title: 'raw IndexedDB (main thread)',
  where: 'main thread',
  durability: 'relaxed',
};

type StoredDoc = { -readonly [Member in keyof Doc]: Doc[Member] };

export class RawIdb implements Contender {
  private database: IDBDatabase | undefined;
  private channel: BroadcastChannel | undefined;
  private readonly durability: IDBTransactionDurability;

  constructor(durability: IDBTransactionDurability = 'relaxed') {
    this.durability = durability;
  }

  async open(name: string): Promise<void> {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore('docs', { keyPath: 'id' });
      store.createIndex('email', 'email', { unique: true });
      store.createIndex('city', 'city');
      // Not declared unique, because that costs a read per insert.
      store.createIndex('city-age', ['city', 'age', 'id']);
    };
    this.database = await resultOf(request);
    this.channel = new BroadcastChannel(`raw:${name}`);
  }

  close(): Promise<void> {
    this.database?.close();
    this.channel?.close();
    return Promise.resolve();
  }

  async insertMany(docs: readonly Doc[]): Promise<void> {
    await this.write((store, commit) => {
      for (const doc of docs) store.add(doc);
      commit();
    });
  }

  async insert(doc: Doc): Promise<void> {
    await this.insertMany([doc]);
  }

  get(id: string): Promise<Doc | undefined> {
    return resultOf(this.reading().get(id) as IDBRequest<Doc | undefined>);
  }

  byCity(city: string, limit: number): Promise<readonly Doc[]> {
    return resultOf(this.reading().index('city').getAll(city, limit) as IDBRequest<Doc[]>);
  }

  async page(cursor: unknown, limit: number): Promise<DocPage> {
    const after = cursor === undefined ? null : IDBKeyRange.lowerBound(cursor, true);
    const index = this.reading().index('city-age');
    const docs = await resultOf(index.getAll(after, limit) as IDBRequest<Doc[]>);
    const last = docs.at(-1);
    return { docs, cursor: last && [last.city, last.age, last.id] };
  }

  ids(limit: number): Promise<readonly string[]> {
    const keys = this.reading().index('city').getAllKeys(null, limit);
    return resultOf(keys as IDBRequest<string[]>);
  }

  async incrementAge(id: string): Promise<void> {
    await this.change([id], (doc) => {
      doc.age += 1;
    });
  }

  async updateMany(ids: readonly string[], age: number): Promise<void> {
    await this.change(ids, (doc) => {
      doc.age = age;
    });
  }

  async transfer(from: string, to: string, amount: number): Promise<void> {
    await this.change([from, to], (doc) => {
      doc.age += doc.id === from ? -amount : amount;
    });
  }

  async watch(
    city: string,
    limit: number,
    onChange: (docs: readonly Doc[]) => void,
  ): Promise<void> {
    const ask = async (): Promise<void> => onChange(await this.byCity(city, limit));
    this.channel?.addEventListener('message', () => void ask());
    await ask();
  }

  private reading(): IDBObjectStore {
    if (!this.database) throw new Error('It is not open.');
    return this.database.transaction('docs', 'readonly').objectStore('docs');
  }

  /** Reads all documents in parallel, writes each as soon as it has been read, and commits after the last one. */
  private async change(ids: readonly string[], edit: (doc: StoredDoc) => void): Promise<void> {
    let missing = ids.length;
    await this.write((store, commit) => {
      for (const id of ids) {
        const request = store.get(id) as IDBRequest<StoredDoc>;
        request.onsuccess = () => {
          edit(request.result);
          store.put(request.result);
          missing -= 1;
          if (missing === 0) commit();
        };
      }
    });
  }

  /** `commit` ends the transaction at once; otherwise the browser waits until it notices that no more requests follow. */
  private async write(work: (store: IDBObjectStore, commit: () => void) => void): Promise<void> {
    if (!this.database) throw new Error('It is not open.');
    const { durability } = this;
    const transaction = this.database.transaction('docs', 'readwrite', { durability });
    await new Promise<void>((resolve, reject) => {
      transaction.addEventListener('complete', () => resolve());
      transaction.addEventListener('abort', () =>
        reject(transaction.error ?? new Error('It was aborted.')),
      );
      work(transaction.objectStore('docs'), () => transaction.commit());
    });
    this.channel?.postMessage('changed');
  }
}

export const create = (): Contender => new RawIdb();

const resultOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('It failed.')));
  });
