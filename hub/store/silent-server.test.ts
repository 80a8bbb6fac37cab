/** A server that accepts connections but does not answer, and one whose disk is full. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { counterOf, increment, put, row } from '../../src/store/testing/store-rows.ts';
import { freshTenant, sharedPostgres } from '../testing/hub-stores.ts';
import { startPostgres, type PostgresServer } from '../testing/postgres-server.ts';
import { fillDisk, onSmallDisk } from '../testing/small-disk.ts';
import { PgDatabase } from '../sql/pg-database.ts';
import { openTables } from './sql-tables.ts';

const postgres = sharedPostgres();

/** Longer than any answer of a working server may take on a busy machine. */
const ANSWER_MS = 15_000;

test('a frozen server process is given up, and another one answers (F28)', async () => {
  const { url } = await postgres();
  const database = new PgDatabase({
    isExclusive: false,
    canListen: false,
    pool: { connectionString: url, max: 4 },
    answerMs: ANSWER_MS,
  });
  const store = await openTables(database, freshTenant());
  await increment(store);
  const connection = await database.connect();
  const [found] = await connection.run([{ name: '', text: 'SELECT pg_backend_pid()', values: [] }]);
  // Returned to the pool, so that it is the next connection to be used.
  connection.release();
  const pid = Number(found?.rows[0]?.[0]);
  process.kill(pid, 'SIGSTOP');
  try {
    const begun = performance.now();
    expect(await counterOf(store)).toBe(1);
    expect(performance.now() - begun).toBeGreaterThan(ANSWER_MS * 0.9);
    await increment(store);
    expect(await counterOf(store)).toBe(2);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await store.close();
  await database.close();
});

test('a server with a full disk refuses writes and keeps acknowledged ones (F20)', (context) =>
  onSmallDisk(context, 160, async (disk) => {
    const kept = process.env['TMPDIR'];
    process.env['TMPDIR'] = disk;
    let server: PostgresServer | undefined;
    try {
      server = await startPostgres();
      const database = new PgDatabase({
        isExclusive: false,
        canListen: false,
        pool: { connectionString: server.url, max: 4 },
      });
      const store = await openTables(database, freshTenant(), { random: () => 0 });
      await increment(store);
      const filler = join(disk, 'filler');
      await fillDisk(disk, filler, 4096 * 1024);
      let acknowledged = 0;
      let refusal: unknown;
      for (let i = 0; i < 200 && refusal === undefined; i += 1) {
        const large = { ...row(`d${i}`), value: randomBytes(400_000).toString('base64') };
        try {
          await put(store, 'documents', [large]);
          acknowledged += 1;
        } catch (reason) {
          refusal = reason;
        }
      }
      expect(refusal).toMatchObject({
        code: expect.stringMatching(/^(quota_exceeded|storage_unavailable)$/u),
      });
      await rm(filler);
      // The server whose log could not be written has ended, and restarts by itself.
      await expect.poll(() => counterOf(store).catch(() => 0)).toBe(1);
      const { ranges } = await store.read((tx) =>
        tx.fetch(
          [],
          [
            {
              space: 'documents',
              by: 'key',
              lower: row('d').key,
              upper: row('e').key,
              reverse: false,
              limit: 1000,
              rows: false,
            },
          ],
        ),
      );
      expect(ranges[0]).toHaveLength(acknowledged);
      await increment(store);
      expect(await counterOf(store)).toBe(2);
      await database.close();
    } finally {
      await server?.stop();
      if (kept === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = kept;
    }
  }));
