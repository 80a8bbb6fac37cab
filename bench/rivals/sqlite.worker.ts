import * as Comlink from 'comlink';
import sqlite3InitModule from '@sqlite.org/sqlite-wasm';
import type { Contender, Doc, DocPage } from '../page/contender.ts';

const COLUMNS = 'id, email, name, age, city, tags, body';

type Row = [string, string, string, number, string, string, string];

interface Statement {
  bind(values: readonly unknown[]): void;
  step(): boolean;
  get(into: []): Row;
  getString(column: number): string;
  reset(): void;
  finalize(): void;
}
interface Sqlite {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

class SqliteContender implements Contender {
  private database: Sqlite | undefined;
  private readonly statements = new Map<string, Statement>();

  async open(name: string): Promise<void> {
    const sqlite = await sqlite3InitModule();
    const pool = await sqlite.installOpfsSAHPoolVfs({
      directory: `.pool-${name}`,
      initialCapacity: 6,
    });
    const database = new pool.OpfsSAHPoolDb(`/${name}.db`) as unknown as Sqlite;
    database.exec(
      'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000;',
    );
    database.exec(
      `CREATE TABLE IF NOT EXISTS docs(id TEXT PRIMARY KEY, email TEXT UNIQUE, name TEXT, age INT, city TEXT, tags TEXT, body TEXT) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS by_city ON docs(city);
       CREATE INDEX IF NOT EXISTS by_city_age ON docs(city, age, id);`,
    );
    this.database = database;
  }

  close(): Promise<void> {
    for (const statement of this.statements.values()) statement.finalize();
    this.database?.close();
    return Promise.resolve();
  }

  insertMany(docs: readonly Doc[]): Promise<void> {
    this.transact(() => docs.forEach((doc) => this.put(doc)));
    return Promise.resolve();
  }

  insert(doc: Doc): Promise<void> {
    this.put(doc);
    return Promise.resolve();
  }

  get(id: string): Promise<Doc | undefined> {
    return Promise.resolve(this.all(`SELECT ${COLUMNS} FROM docs WHERE id = ?`, [id])[0]);
  }

  byCity(city: string, limit: number): Promise<readonly Doc[]> {
    const sql = `SELECT ${COLUMNS} FROM docs WHERE city = ? ORDER BY id LIMIT ?`;
    return Promise.resolve(this.all(sql, [city, limit]));
  }

  page(cursor: unknown, limit: number): Promise<DocPage> {
    const after = cursor === undefined ? ['', 0, ''] : (cursor as readonly unknown[]);
    const sql = `SELECT ${COLUMNS} FROM docs WHERE (city, age, id) > (?, ?, ?) ORDER BY city, age, id LIMIT ?`;
    const docs = this.all(sql, [...after, limit]);
    const last = docs.at(-1);
    return Promise.resolve({ docs, cursor: last && [last.city, last.age, last.id] });
  }

  ids(limit: number): Promise<readonly string[]> {
    const statement = this.prepared('SELECT id FROM docs INDEXED BY by_city ORDER BY city LIMIT ?');
    const ids: string[] = [];
    statement.bind([limit]);
    while (statement.step()) ids.push(statement.getString(0));
    statement.reset();
    return Promise.resolve(ids);
  }

  incrementAge(id: string): Promise<void> {
    this.run('UPDATE docs SET age = age + 1 WHERE id = ?', [id]);
    return Promise.resolve();
  }

  updateMany(ids: readonly string[], age: number): Promise<void> {
    this.transact(() =>
      ids.forEach((id) => this.run('UPDATE docs SET age = ? WHERE id = ?', [age, id])),
    );
    return Promise.resolve();
  }

  transfer(from: string, to: string, amount: number): Promise<void> {
    this.transact(() => {
      this.run('UPDATE docs SET age = age - ? WHERE id = ?', [amount, from]);
      this.run('UPDATE docs SET age = age + ? WHERE id = ?', [amount, to]);
    });
    return Promise.resolve();
  }

  watch(): Promise<void> {
    return Promise.reject(new Error('It has no live query.'));
  }

  private opened(): Sqlite {
    if (!this.database) throw new Error('It is not open.');
    return this.database;
  }

  private prepared(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = this.opened().prepare(sql)));
    return statement;
  }

  private run(sql: string, values: readonly unknown[]): void {
    const statement = this.prepared(sql);
    statement.bind(values);
    statement.step();
    statement.reset();
  }

  private all(sql: string, values: readonly unknown[]): Doc[] {
    const statement = this.prepared(sql);
    const docs: Doc[] = [];
    statement.bind(values);
    while (statement.step()) {
      const [id, email, name, age, city, tags, body] = statement.get([]);
      docs.push({ id, email, name, age, city, tags: JSON.parse(tags) as string[], body });
    }
    statement.reset();
    return docs;
  }

  private put({ id, email, name, age, city, tags, body }: Doc): void {
    const values = [id, email, name, age, city, JSON.stringify(tags), body];
    this.run(`INSERT INTO docs(${COLUMNS}) VALUES(?, ?, ?, ?, ?, ?, ?)`, values);
  }

  private transact(work: () => void): void {
    const database = this.opened();
    database.exec('BEGIN IMMEDIATE');
    try {
      work();
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }
}

Comlink.expose(new SqliteContender());
