/** F23: every statement of a write fails in every way in which a server fails. What was acknowledged is stored exactly once. */
import { beforeEach, describe, expect, test } from 'vitest';
import { KeyTaken } from '../../src/store/port.ts';
import {
  at,
  COUNTER,
  counterOf,
  everything,
  put,
  row,
  STRICT,
  write,
} from '../../src/store/testing/store-rows.ts';
import { FaultyDatabase } from '../testing/faulty-database.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import { forgetMarks } from '../sql/statements.ts';
import type { SqlStore } from './sql-store.ts';
import { openTables } from './sql-tables.ts';

/** The first test with each server starts it. */
const START_MS = 60_000;

const CODES = ['40001', '40P01', '40003', '08006', '26000', '57P01', undefined];

const { pglite, postgres } = sharedDatabases();

for (const [name, shared] of Object.entries({ PGlite: pglite, PostgreSQL: postgres })) {
  describe(`write() on ${name}`, () => {
    let database: FaultyDatabase;
    let store: SqlStore;
    let reported: unknown[];
    let tenant: string;

    beforeEach(async () => {
      database = new FaultyDatabase(await shared());
      reported = [];
      tenant = freshTenant();
      store = await openTables(database, tenant, {
        random: () => 0,
        report: (reason) => reported.push(reason),
      });
      await put(store, 'meta', [{ ...row('counter'), value: '0' }]);
      await put(store, 'documents', [row('a', ['e', 'f'])]);
      database.statements = [];
    }, START_MS);

    /** Reads, writes new and existing rows, and removes entries, so that every kind of statement is used. */
    const job = (): Promise<void> =>
      store.write(async (tx) => {
        const { rows } = await tx.fetch([COUNTER, at('a')], []);
        const count = Number(rows[0]?.value) + 1;
        tx.apply({
          puts: [
            { space: 'meta', row: { ...row('counter'), value: String(count) } },
            { space: 'documents', row: row('a', ['f', `g${count}`]) },
            { space: 'documents', row: row(`new${count}`, ['n']), isNew: true },
          ],
          deletes: [at(`new${count - 1}`)],
        });
      }, STRICT);

    /** Writes once with each fault, after a first write by the caller. Returns the number of all writes. */
    async function underEachFault(
      length: number,
      write: (count: number) => Promise<void>,
    ): Promise<number> {
      let done = 1;
      for (const code of CODES)
        for (let n = 1; n <= length; n += 1)
          for (const isAfter of [false, true]) {
            // With these codes, the server guarantees that it has not committed.
            if (isAfter && n === length && (code === '40001' || code === '40P01')) continue;
            database.statements = [];
            database.fault = { code, at: n, isAfter };
            done += 1;
            await write(done);
            const detail = `${code} at ${n}, ${isAfter ? 'after' : 'before'}`;
            expect(database.fault, detail).toBeUndefined();
            expect(await counterOf(store), detail).toBe(done);
          }
      return done;
    }

    test('is executed once, whatever fails at which statement', async () => {
      await job();
      const { length } = database.statements;
      expect(database.statements.at(-1)?.name).toBe('burrow_commit');
      const done = await underEachFault(length, job);
      const { documents, entries } = await everything(store);
      expect(documents.map(({ key }) => key)).toEqual(['a', `new${done}`]);
      expect(entries.map(({ entry }) => entry)).toEqual(['f', `g${done}`, 'n']);
    });

    /** Reads nothing first, so that on a database with a single connection it is one statement. */
    const create = (count: number): Promise<void> =>
      store.write((tx) => {
        tx.apply({
          puts: [
            { space: 'documents', row: row(`made${count}`, ['m']), isNew: true },
            { space: 'meta', row: { ...row('counter'), value: String(count) } },
          ],
          deletes: [],
        });
        return Promise.resolve();
      }, STRICT);

    test('is executed once if it only creates rows, whatever fails at which statement', async () => {
      await create(1);
      const { length } = database.statements;
      expect(length).toBe(name === 'PGlite' ? 1 : 7);
      const done = await underEachFault(length, create);
      const { documents, entries } = await everything(store);
      expect(documents).toHaveLength(1 + done);
      expect(entries).toHaveLength(2 + done);
    }, 60_000);

    test('creates nothing if a row exists or a statement silently has no effect', async () => {
      const before = await everything(store);
      await create(1);
      await expect(create(1)).rejects.toBeInstanceOf(KeyTaken);
      database.losing = name === 'PGlite' ? 'burrow_write_at_once' : 'burrow_insert_entries';
      await expect(create(2)).rejects.toThrow(/must change|single statement/u);
      database.losing = undefined;
      expect(await counterOf(store)).toBe(1);
      expect((await everything(store)).entries).toHaveLength(before.entries.length + 1);
    });

    describe('is not executed again if the mark of its commit is gone, because a server whose clock is ahead has removed it', () => {
      /** The marks are removed between the commit, whose answer is lost, and the look-up. */
      async function loseAnswerAndMarks(length: number): Promise<void> {
        const inner = await shared();
        const connect = database.connect.bind(database);
        const removeMarks = async (): Promise<void> => {
          const connection = await inner.connect();
          await connection.run([
            { name: '', text: "UPDATE burrow_commits SET at = at - INTERVAL '1 year'", values: [] },
            forgetMarks(tenant, 'a store that closes'),
          ]);
          connection.release();
        };
        database.statements = [];
        database.fault = { code: '08006', at: length, isAfter: true };
        let connections = 0;
        database.connect = async () => {
          connections += 1;
          // The second connection looks up whether the commit happened.
          if (connections === 2) await removeMarks();
          return connect();
        };
      }
      const refused = {
        code: 'storage_unavailable',
        message: expect.stringContaining('check whether the write was made'),
      };

      test('a later commit of a store', async () => {
        await job();
        database.statements = [];
        await job();
        const { length } = database.statements;
        expect(database.statements.at(-1)?.name).toBe('burrow_commit');
        await loseAnswerAndMarks(length);
        await expect(job()).rejects.toMatchObject(refused);
        expect(await counterOf(store)).toBe(3);
        await job();
        expect(await counterOf(store)).toBe(4);
      });

      // A database with a single connection has no failover.
      if (name === 'PGlite') return;
      test('the first commit of a store', async () => {
        await job();
        database.statements = [];
        await job();
        const { length } = database.statements;
        store = await openTables(database, tenant, { random: () => 0 });
        await loseAnswerAndMarks(length);
        await expect(job()).rejects.toMatchObject(refused);
        expect(await counterOf(store)).toBe(3);
      });
    });

    test('is executed if the connection is lost before the first commit of a store', async () => {
      await job();
      const { length } = database.statements;
      store = await openTables(database, tenant, { random: () => 0 });
      database.statements = [];
      database.fault = { code: '08006', at: length, isAfter: false };
      await job();
      expect(database.fault).toBeUndefined();
      expect(await counterOf(store)).toBe(2);
    });

    test('is refused after ten failures and leaves nothing', async () => {
      const before = await everything(store);
      const ways = [
        ['40001', 'contended transaction'],
        ['08006', 'storage_unavailable'],
      ] as const;
      for (const [code, refusal] of ways) {
        let begun = 0;
        const failing = store.write(async (tx) => {
          begun += 1;
          database.statements = [];
          database.fault = { code, at: 2, isAfter: false };
          await tx.fetch([COUNTER], []);
        }, STRICT);
        await expect(failing).rejects.toMatchObject({ code: refusal });
        expect(begun).toBe(10);
      }
      expect(await everything(store)).toEqual(before);
    });

    test('is refused without a retry for errors that a retry cannot fix', async () => {
      const ways = [
        ['53100', 'quota_exceeded'],
        ['53200', 'storage_unavailable'],
        ['54000', 'limit_exceeded'],
        ['57014', 'time out'],
        ['55P03', 'time out'],
        ['42501', 'storage_unavailable'],
        ['58030', 'storage_unavailable'],
      ] as const;
      const before = await everything(store);
      for (const [code, refusal] of ways)
        for (const n of [1, 4]) {
          database.statements = [];
          database.fault = { code, at: n, isAfter: false };
          await expect(job()).rejects.toMatchObject({ code: refusal });
        }
      expect(await everything(store)).toEqual(before);
      // The other refusals tell the caller enough, so they are not reported.
      const causes = ['42501', '42501', '58030', '58030'].map((code) => ({ cause: { code } }));
      expect(reported).toMatchObject(causes);
    });

    test('refuses a new row that exists already with KeyTaken', async () => {
      const again = write(store, {
        puts: [{ space: 'documents', row: row('a', ['x']), isNew: true }],
        deletes: [],
      });
      await expect(again).rejects.toBeInstanceOf(KeyTaken);
      expect((await everything(store)).entries).toHaveLength(2);
    });

    test('does not commit if a statement silently has no effect', async () => {
      const before = await everything(store);
      database.losing = 'burrow_insert_entries';
      await expect(job()).rejects.toThrow(/burrow_insert_entries must change/u);
      database.losing = undefined;
      expect(await everything(store)).toEqual(before);
      await job();
      expect(await counterOf(store)).toBe(1);
    });
  });
}
