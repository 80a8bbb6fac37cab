/** The baseline: a bare HTTP server that executes the fewest SQL statements for the same work. bench/hub.mjs starts it. Prints its port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';

type Run = (
  sql: string,
  values?: readonly unknown[],
) => Promise<readonly Record<string, unknown>[]>;
interface Database {
  readonly run: Run;
  transaction(body: (run: Run) => Promise<void>): Promise<void>;
}

function openPool(url: string): Database {
  const pool = new Pool({ connectionString: url, max: 16 });
  // PostgreSQL is stopped before this process, which then ends as well.
  pool.on('error', () => process.exit(0));
  const prepared = (sql: string) => ({ name: sql.slice(0, 60), text: sql });
  return {
    run: async (sql, values = []) =>
      (await pool.query({ ...prepared(sql), values: [...values] })).rows as Record<
        string,
        unknown
      >[],
    async transaction(body) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await body(
          async (sql, values = []) =>
            (await client.query({ ...prepared(sql), values: [...values] })).rows as Record<
              string,
              unknown
            >[],
        );
        await client.query('commit');
      } catch (reason) {
        await client.query('rollback');
        throw reason;
      } finally {
        client.release();
      }
    },
  };
}

async function openLite(): Promise<Database> {
  const lite = await PGlite.create('memory://');
  return {
    run: async (sql, values = []) =>
      (await lite.query<Record<string, unknown>>(sql, [...values])).rows,
    transaction: (body) =>
      lite.transaction((tx) =>
        body(
          async (sql, values = []) =>
            (await tx.query<Record<string, unknown>>(sql, [...values])).rows,
        ),
      ),
  };
}

const url = process.argv[2] ?? 'memory:';
const database = url === 'memory:' ? await openLite() : openPool(url);
for (const sql of [
  'create table if not exists floor_rows (key bytea primary key, value text not null)',
  'create table if not exists floor_entries (entry bytea, key bytea, primary key (entry, key))',
  'create table if not exists floor_head (id int primary key, ts bigint not null)',
  'insert into floor_head values (1, 0) on conflict do nothing',
])
  await database.run(sql);

async function create(id: string, value: string): Promise<string> {
  const key = Buffer.from(id);
  await database.transaction(async (run) => {
    await run('select ts from floor_head where id = 1 for update');
    await run('insert into floor_rows (key, value) values ($1, $2)', [key, value]);
    await run('insert into floor_entries (entry, key) values ($1, $3), ($2, $3)', [
      Buffer.from(`a/${id}`),
      Buffer.from(`b/${id}`),
      key,
    ]);
    await run('update floor_head set ts = ts + 1 where id = 1');
  });
  return id;
}

/** Rows contain documents as text, which is returned unchanged. */
const resourceOf = (rows: readonly Record<string, unknown>[]): string =>
  `{"resource":[${rows.map(({ value }) => String(value)).join(',')}]}`;

/** CPU time of this process in seconds. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function answer(path: string, body: string): Promise<string> {
  if (path === '/cpu') return String(cpuSeconds());
  const { id, value } = JSON.parse(body) as { readonly id: string; readonly value: string };
  if (path === '/create') return `{"resource":"${await create(id, value)}"}`;
  if (path === '/get')
    return resourceOf(
      await database.run('select value from floor_rows where key = $1', [Buffer.from(id)]),
    );
  return resourceOf(
    await database.run(
      'select r.value from floor_entries e join floor_rows r on r.key = e.key where e.entry >= $1 order by e.entry limit 64',
      [Buffer.from(`a/${id}`)],
    ),
  );
}

const SECRET = process.env['BURROW_ROOT_SECRET'] ?? '';

const server = createServer((request, response) => {
  if (request.headers.authorization !== `Bearer ${SECRET}`) {
    response.writeHead(401).end();
    return;
  }
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    answer(request.url ?? '', Buffer.concat(parts).toString()).then(
      (text) => response.writeHead(200, { 'content-type': 'application/json' }).end(text),
      (reason: unknown) => response.writeHead(500).end(String(reason)),
    );
  });
});
server.listen(0, '127.0.0.1', () =>
  console.log(`listening ${(server.address() as AddressInfo).port}`),
);
