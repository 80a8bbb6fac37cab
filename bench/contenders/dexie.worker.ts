import * as Comlink from 'comlink';
import { Dexie, liveQuery, type Table } from 'dexie';
import type { Contender, Doc, DocPage } from '../page/contender.ts';

class DexieContender implements Contender {
  private docs: Table<Doc, string> | undefined;

  async open(name: string): Promise<void> {
    const database = new Dexie(name);
    database.version(1).stores({ docs: 'id,&email,city,[city+age+id]' });
    await database.open();
    this.docs = database.table('docs');
  }

  close(): Promise<void> {
    this.table().db.close();
    return Promise.resolve();
  }

  async insertMany(docs: readonly Doc[]): Promise<void> {
    await this.table().bulkAdd(docs);
  }

  async insert(doc: Doc): Promise<void> {
    await this.table().add(doc);
  }

  async get(id: string): Promise<Doc | undefined> {
    return this.table().get(id);
  }

  async byCity(city: string, limit: number): Promise<readonly Doc[]> {
    return this.table().where('city').equals(city).limit(limit).toArray();
  }

  async page(cursor: unknown, limit: number): Promise<DocPage> {
    const index = '[city+age+id]';
    const rest =
      cursor === undefined ? this.table().orderBy(index) : this.table().where(index).above(cursor);
    const docs = await rest.limit(limit).toArray();
    const last = docs.at(-1);
    return { docs, cursor: last && [last.city, last.age, last.id] };
  }

  async ids(limit: number): Promise<readonly string[]> {
    return this.table().orderBy('city').limit(limit).primaryKeys();
  }

  async incrementAge(id: string): Promise<void> {
    await this.change([id], (doc) => ({ ...doc, age: doc.age + 1 }));
  }

  async updateMany(ids: readonly string[], age: number): Promise<void> {
    await this.table().bulkUpdate(ids.map((key) => ({ key, changes: { age } })));
  }

  async transfer(from: string, to: string, amount: number): Promise<void> {
    await this.change([from, to], (doc) => ({
      ...doc,
      age: doc.age + (doc.id === from ? -amount : amount),
    }));
  }

  async watch(
    city: string,
    limit: number,
    onChange: (docs: readonly Doc[]) => void,
  ): Promise<void> {
    liveQuery(() => this.byCity(city, limit)).subscribe(onChange);
    await this.byCity(city, limit);
  }

  private async change(ids: string[], edit: (doc: Doc) => Doc): Promise<void> {
    const table = this.table();
    await table.db.transaction('rw', table, async () => {
      const docs = await table.bulkGet(ids);
      await table.bulkPut(docs.filter((doc) => doc !== undefined).map(edit));
    });
  }

  private table(): Table<Doc, string> {
    if (!this.docs) throw new Error('It is not open.');
    return this.docs;
  }
}

Comlink.expose(new DexieContender());
