/**
 * Two processes on one PostgreSQL, killed and disconnected at random: the history checker checks what their clients saw.
 * BURROW_HISTORY_SECONDS sets the duration (6), BURROW_SEED the seed.
 */
import { Client } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { seedOf } from '../../src/engine/testing/random-source.ts';
import { asked, expectSerializable, figuresOf, Histories } from '../testing/histories.ts';
import * as queries from '../testing/history-queries.ts';
import { freshTenant, sharedPostgres } from '../testing/hub-stores.ts';
import { buildQueryProcess, QueryProcess, removeBuilt } from '../testing/query-processes.ts';

const SECONDS = Number(process.env['BURROW_HISTORY_SECONDS'] ?? 6);
const SEED = seedOf('BURROW_SEED');
const CLIENTS = 8;

const postgres = sharedPostgres();
const processes: QueryProcess[] = [];
let built: string | undefined;
afterAll(async () => {
  await Promise.all(processes.map((each) => each.end()));
  if (built !== undefined) await removeBuilt(built);
});

test(
  `two processes on one server are strictly serializable, even if they are killed (seed ${SEED}) (L2, L3)`,
  async () => {
    const { url } = await postgres();
    const tenant = freshTenant();
    built = await buildQueryProcess();
    for (let i = 0; i < 2; i += 1) processes.push(new QueryProcess(built, [url, tenant]));
    const [one, other] = processes;
    if (!one || !other) throw new Error('Two processes were started.');
    for (const query of queries.setUp) await asked(one, query);
    await asked(other, queries.balances);

    const histories = new Histories(SEED);
    const end = performance.now() + SECONDS * 1000;
    const client = async (by: number): Promise<void> => {
      while (performance.now() < end) await histories.act(by, by % 2 === 0 ? one : other);
    };
    const faults = { killed: 0, cut: 0 };
    const nemesis = async (): Promise<void> => {
      const admin = new Client({ connectionString: url });
      await admin.connect();
      for (let turn = 0; performance.now() < end; turn += 1) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(2000, (SECONDS * 1000) / 4)));
        if (turn % 2 === 0) {
          await admin.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'burrow'",
          );
          faults.cut += 1;
        } else {
          await (turn % 4 === 1 ? one : other).kill();
          faults.killed += 1;
        }
      }
      await admin.end();
    };
    await Promise.all([...Array.from({ length: CLIENTS }, (_, by) => client(by)), nemesis()]);

    await expectSerializable(histories, one);
    const figures = {
      seconds: SECONDS,
      ...figuresOf(histories),
      ...faults,
    };
    console.log(`[figures] history over two processes: ${JSON.stringify(figures)}`);
    expect(figures.lists).toBeGreaterThan(SECONDS * 2);
  },
  (SECONDS + 300) * 1000,
);
