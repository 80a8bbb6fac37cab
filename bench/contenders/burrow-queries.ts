/** Burrow through its public API, with queries that an app would write. */
import {
  NotFound,
  openDatabase,
  q,
  type Client,
  type Database,
  type DatabaseOptions,
  type StoredDocument,
  type Page,
  type Ref,
} from '../../src/index.ts';
import type { Contender, Doc, DocPage, Inspection } from '../page/contender.ts';

const DOCS = q.Collection('docs');
const BY_CITY = q.Index('docs_by_city');
const BY_CITY_AGE = q.Index('docs_by_city_age');

export const refOf = (id: string) => q.Ref(DOCS, id);

export async function makeSchema(client: Client): Promise<void> {
  if (await client.query(q.Exists(BY_CITY_AGE))) return;
  const city = { field: ['data', 'city'] };
  const age = { field: ['data', 'age'] };
  await client.query(q.CreateCollection({ name: 'docs' }));
  await client.query(
    q.Do(
      q.CreateIndex({
        name: 'docs_by_email',
        source: DOCS,
        terms: [{ field: ['data', 'email'] }],
        unique: true,
      }),
      q.CreateIndex({ name: 'docs_by_city', source: DOCS, terms: [city] }),
      q.CreateIndex({
        name: 'docs_by_city_age',
        source: DOCS,
        values: [city, age, { field: ['ref'] }],
      }),
    ),
  );
}

/** Whole documents of a city, by id. */
const docsOf = (city: string, size: number) =>
  q.Map(q.Paginate(q.Match<Ref>(BY_CITY, city), { size }), (ref) => q.Get<Doc>(ref));

const addAge = (id: string, amount: number) =>
  q.Update(refOf(id), {
    data: { age: q.Add(q.Select(['data', 'age'], q.Get(refOf(id))), amount) },
  });

export class BurrowContender implements Contender {
  private readonly options: DatabaseOptions;
  private opened: { readonly database: Database; readonly client: Client } | undefined;

  constructor(options: Pick<DatabaseOptions, 'durability' | 'store'>) {
    // The log is enabled, so that its cost is part of all results.
    this.options = { ...options, log: { enabled: true } };
  }

  async open(name: string): Promise<void> {
    const database = await openDatabase(name, this.options);
    const client = database.client();
    await makeSchema(client);
    this.opened = { database, client };
  }

  async close(): Promise<void> {
    await this.opened?.database.close();
  }

  async insertMany(docs: readonly Doc[]): Promise<void> {
    // Returns `true`, because `Foreach` would return all documents.
    await this.client().query(
      q.Do(
        q.Foreach(docs, (doc) => q.Create(q.Ref(DOCS, q.Select('id', doc)), { data: doc })),
        true,
      ),
    );
  }

  async insert(doc: Doc): Promise<void> {
    await this.client().query(q.Create(refOf(doc.id), { data: doc }));
  }

  async get(id: string): Promise<Doc | undefined> {
    try {
      return (await this.client().query(q.Get<Doc>(refOf(id)))).data;
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  async byCity(city: string, limit: number): Promise<readonly Doc[]> {
    return contentsOf(await this.client().query(docsOf(city, limit)));
  }

  async page(cursor: unknown, limit: number): Promise<DocPage> {
    const after = cursor === undefined ? {} : { after: cursor as readonly unknown[] };
    const page = await this.client().query(
      q.Map(
        q.Paginate(q.Match<[string, number, Ref]>(BY_CITY_AGE), { size: limit, ...after }),
        (_city, _age, ref) => q.Get<Doc>(ref),
      ),
    );
    return { docs: contentsOf(page), cursor: page.after };
  }

  async ids(limit: number): Promise<readonly string[]> {
    const set = q.Match<[string, number, Ref]>(BY_CITY_AGE);
    const { data } = await this.client().query(q.Paginate(set, { size: limit }));
    return data.map(([, , ref]) => ref.id);
  }

  async incrementAge(id: string): Promise<void> {
    await this.client().query(addAge(id, 1));
  }

  async updateMany(ids: readonly string[], age: number): Promise<void> {
    await this.client().query(q.Foreach(ids, (id) => q.Update(q.Ref(DOCS, id), { data: { age } })));
  }

  async transfer(from: string, to: string, amount: number): Promise<void> {
    await this.client().query(q.Do(addAge(from, -amount), addAge(to, amount)));
  }

  async watch(
    city: string,
    limit: number,
    onChange: (docs: readonly Doc[]) => void,
  ): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.client().subscribe(docsOf(city, limit), {
        next(page) {
          onChange(contentsOf(page));
          resolve();
        },
        error: reject,
      });
    });
  }

  async inspect(): Promise<Inspection> {
    if (!this.opened) throw new Error('It is not open.');
    const { database } = this.opened;
    return { loss: database.loss?.kind, problems: await database.verify() };
  }

  private client(): Client {
    if (!this.opened) throw new Error('It is not open.');
    return this.opened.client;
  }
}

const contentsOf = ({ data }: Page<StoredDocument<Doc>>): readonly Doc[] =>
  data.map((doc) => doc.data);
