import { createRxDatabase, type RxCollection, type RxDatabase } from 'rxdb';
import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie';
import type { Contender, ContenderInfo, Doc, DocPage } from '../page/contender.ts';

export const info: ContenderInfo = {
  title: 'RxDB 17 (Dexie storage)',
  where: 'main thread (its worker storage is a paid plugin)',
  durability: "the browser's default (relaxed in Chromium)",
  notes: 'no unique index; a transfer is two writes; deep pages by skipping inside a city',
};

const SCHEMA = {
  version: 0,
  primaryKey: 'id',
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 24 },
    email: { type: 'string', maxLength: 60 },
    name: { type: 'string' },
    age: { type: 'integer', minimum: -100_000_000, maximum: 100_000_000, multipleOf: 1 },
    city: { type: 'string', maxLength: 40 },
    tags: { type: 'array', items: { type: 'string' } },
    body: { type: 'string' },
  },
  required: ['id', 'email', 'age', 'city'],
  indexes: ['email', 'city', ['city', 'age', 'id']],
};

/** The end of a page: the number of documents of a city that have been read. */
interface Place {
  readonly city: string;
  readonly seen: number;
}

class RxContender implements Contender {
  private opened: { readonly database: RxDatabase; readonly docs: RxCollection<Doc> } | undefined;

  async open(name: string): Promise<void> {
    const database = await createRxDatabase({ name, storage: getRxStorageDexie() });
    const { docs } = await database.addCollections({ docs: { schema: SCHEMA } });
    if (!docs) throw new Error('The collection was not made.');
    this.opened = { database, docs };
  }

  async close(): Promise<void> {
    await this.opened?.database.close();
  }

  async insertMany(docs: readonly Doc[]): Promise<void> {
    const { error } = await this.docs().bulkInsert([...docs]);
    if (error.length > 0) throw new Error('Not all were inserted.');
  }

  async insert(doc: Doc): Promise<void> {
    await this.docs().insert(doc);
  }

  async get(id: string): Promise<Doc | undefined> {
    return (await this.docs().findOne(id).exec())?.toJSON();
  }

  async byCity(city: string, limit: number): Promise<readonly Doc[]> {
    const found = await this.docs().find({ selector: { city }, limit }).exec();
    return found.map((each) => each.toJSON() as Doc);
  }

  async page(cursor: unknown, limit: number): Promise<DocPage> {
    const place = cursor as Place | undefined;
    const found = await this.docs()
      .find({
        selector: { city: { $gte: place?.city ?? '' } },
        sort: [{ city: 'asc' }, { age: 'asc' }, { id: 'asc' }],
        index: ['city', 'age', 'id'],
        skip: place?.seen ?? 0,
        limit,
      })
      .exec();
    const docs = found.map((each) => each.toJSON() as Doc);
    const city = docs.at(-1)?.city;
    if (city === undefined) return { docs, cursor: undefined };
    const before = place?.city === city ? place.seen : 0;
    return {
      docs,
      cursor: { city, seen: before + docs.filter((doc) => doc.city === city).length },
    };
  }

  async ids(limit: number): Promise<readonly string[]> {
    const query = { selector: { city: { $gte: '' } }, sort: [{ city: 'asc' as const }], limit };
    return (await this.docs().find(query).exec()).map((each) => each.primary);
  }

  async incrementAge(id: string): Promise<void> {
    await this.addAge(id, 1);
  }

  async updateMany(ids: readonly string[], age: number): Promise<void> {
    const found = await this.docs()
      .findByIds([...ids])
      .exec();
    await this.docs().bulkUpsert(
      [...found.values()].map((each) => ({ ...(each.toJSON() as Doc), age })),
    );
  }

  async transfer(from: string, to: string, amount: number): Promise<void> {
    await this.addAge(from, -amount);
    await this.addAge(to, amount);
  }

  watch(city: string, limit: number, onChange: (docs: readonly Doc[]) => void): Promise<void> {
    this.docs()
      .find({ selector: { city }, limit })
      .$.subscribe((found) => onChange(found.map((each) => each.toJSON() as Doc)));
    return Promise.resolve();
  }

  private async addAge(id: string, amount: number): Promise<void> {
    const found = await this.docs().findOne(id).exec();
    await found?.incrementalModify((doc) => ({ ...doc, age: doc.age + amount }));
  }

  private docs(): RxCollection<Doc> {
    if (!this.opened) throw new Error('It is not open.');
    return this.opened.docs;
  }
}

export const create = (): Contender => new RxContender();
