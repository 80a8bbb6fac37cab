import { PGliteWorker } from '@electric-sql/pglite/worker';
import { live, type PGliteWithLive } from '@electric-sql/pglite/live';
import type { Contender, ContenderInfo, Doc, DocPage } from '../page/contender.ts';

export const info: ContenderInfo = {
  title: 'PGlite (OPFS, PGliteWorker)',
  where: 'a worker of the tab that leads',
  durability: 'relaxed: flushed after the promise',
};

class PgContender implements Contender {
  private database: (PGliteWorker & PGliteWithLive) | undefined;

  async open(name: string): Promise<void> {
    const worker = new Worker(new URL('./pglite.worker.ts', import.meta.url), { type: 'module' });
    const extensions = { live };
    const dataDir = `opfs-ahp://${name}`;
    this.database = await PGliteWorker.create(worker, { dataDir, id: name, extensions });
    await this.database.exec(
      `CREATE TABLE IF NOT EXISTS docs(id text PRIMARY KEY, email text UNIQUE, name text, age int, city text, tags jsonb, body text);
       CREATE INDEX IF NOT EXISTS by_city ON docs(city, id);
       CREATE INDEX IF NOT EXISTS by_city_age ON docs(city, age, id);`,
    );
  }

  async close(): Promise<void> {
    await this.database?.close();
  }

  async insertMany(docs: readonly Doc[]): Promise<void> {
    await this.ask('INSERT INTO docs SELECT * FROM json_populate_recordset(null::docs, $1::json)', [
      docs,
    ]);
  }

  insert(doc: Doc): Promise<void> {
    return this.insertMany([doc]);
  }

  async get(id: string): Promise<Doc | undefined> {
    return (await this.ask('SELECT * FROM docs WHERE id = $1', [id]))[0];
  }

  byCity(city: string, limit: number): Promise<readonly Doc[]> {
    return this.ask('SELECT * FROM docs WHERE city = $1 ORDER BY id LIMIT $2', [city, limit]);
  }

  async page(cursor: unknown, limit: number): Promise<DocPage> {
    const after = cursor === undefined ? ['', 0, ''] : (cursor as readonly unknown[]);
    const docs = await this.ask(
      'SELECT * FROM docs WHERE (city, age, id) > ($1, $2, $3) ORDER BY city, age, id LIMIT $4',
      [...after, limit],
    );
    const last = docs.at(-1);
    return { docs, cursor: last && [last.city, last.age, last.id] };
  }

  async ids(limit: number): Promise<readonly string[]> {
    const sql = 'SELECT id FROM docs ORDER BY city, id LIMIT $1';
    const { rows } = await this.opened().query<[string]>(sql, [limit], { rowMode: 'array' });
    return rows.map(([id]) => id);
  }

  async incrementAge(id: string): Promise<void> {
    await this.ask('UPDATE docs SET age = age + 1 WHERE id = $1', [id]);
  }

  async updateMany(ids: readonly string[], age: number): Promise<void> {
    await this.ask('UPDATE docs SET age = $1 WHERE id = ANY($2)', [age, ids]);
  }

  async transfer(from: string, to: string, amount: number): Promise<void> {
    await this.ask(
      'UPDATE docs SET age = age + CASE id WHEN $1 THEN -$3::int ELSE $3::int END WHERE id IN ($1, $2)',
      [from, to, amount],
    );
  }

  async watch(
    city: string,
    limit: number,
    onChange: (docs: readonly Doc[]) => void,
  ): Promise<void> {
    const sql = `SELECT * FROM docs WHERE city = $1 ORDER BY id LIMIT ${limit}`;
    await this.opened().live.query<Doc>(sql, [city], ({ rows }) => onChange(rows));
  }

  private async ask(sql: string, values: readonly unknown[]): Promise<Doc[]> {
    return (await this.opened().query<Doc>(sql, [...values])).rows;
  }

  private opened(): PGliteWorker & PGliteWithLive {
    if (!this.database) throw new Error('It is not open.');
    return this.database;
  }
}

export const create = (): Contender => new PgContender();
