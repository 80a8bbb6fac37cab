import { sha256 } from '@noble/hashes/sha2.js';
import { expect, test } from 'vitest';
import { createEngine } from '../src/engine/engine.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { StoreKind } from './store/layouts.ts';
import { pause } from './browser/pause.ts';
import { OPEN, STORE_KINDS } from './testing/store-kinds.ts';
import { freshName } from './testing/store-kit.ts';

const DAY = 86_400 * 1_000_000;

/** The time of all engines of this test, in µs. */
let now = Date.parse('2026-01-01') * 1000;

async function openEngine(kind: StoreKind, name: string) {
  const store = await OPEN[kind](name);
  const engine = createEngine({
    store,
    clock: () => (now += 1000),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    sha256,
    passwords: { hash: () => Promise.reject(new Error()), verify: () => Promise.resolve(false) },
    hashCost: 4,
    durability: 'relaxed',
    rootSecret: 'root',
    regionGroup: 'local',
    pause,
  });
  return { engine, store };
}

async function ask(engine: Engine, query: unknown): Promise<unknown> {
  const text = JSON.stringify(query);
  const answer = await engine.query({
    secret: 'root',
    query: text,
    apiVersion: '4',
    allows: 'write',
  });
  if (answer.status >= 300) throw new Error(answer.body);
  return (JSON.parse(answer.body) as { resource: unknown }).resource;
}

const many = (collection: string, count: number) => ({
  map: {
    lambda: 'n',
    expr: { create: { collection }, params: { object: { data: { object: { n: { var: 'n' } } } } } },
  },
  collection: Array.from({ length: count }, (_, i) => i),
});

test.each(STORE_KINDS)(
  'when a tab ends while it removes expired data from IndexedDB, another tab completes the removal, in the layout `%s`',
  async (kind) => {
    const name = freshName();
    const [one, two] = [await openEngine(kind, name), await openEngine(kind, name)];
    for (const [collection, history_days] of [
      ['old', 1],
      ['notes', 0],
    ] as const) {
      await ask(one.engine, { create_collection: { object: { name: collection, history_days } } });
    }
    await ask(one.engine, many('old', 1500));
    await ask(one.engine, many('notes', 20));
    const refs = { paginate: { documents: { collection: 'notes' } } };
    const touch = { map: { lambda: 'x', expr: { update: { var: 'x' } } }, collection: refs };
    for (let i = 0; i < 40; i += 1) await ask(one.engine, touch);
    await ask(one.engine, { delete: { collection: 'old' } });
    now += DAY;
    await ask(two.engine, { create_collection: { object: { name: 'later' } } });
    const events = { paginate: { events: { documents: { collection: 'notes' } } } };
    const before = [await ask(two.engine, refs), await ask(two.engine, events)];

    let removed = 0;
    one.engine.onCommit(({ rows }) => {
      removed += rows.length;
      if (removed > 500) void one.store.close();
    });
    await expect(one.engine.collectExpiredData()).rejects.toThrow('closed');
    expect(removed).toBeLessThan(1500);
    two.engine.applyCommit({ previous: now, ts: now, rows: [], entries: [] });
    await two.engine.collectExpiredData();
    expect([await ask(two.engine, refs), await ask(two.engine, events)]).toEqual(before);
    expect(await two.engine.verify()).toEqual([]);
    let rows = 0;
    await two.engine.verify((checked) => (rows = checked));
    // Twenty documents with one version each, three collections, and the rows of their names.
    expect(rows).toBeLessThan(40);
    await two.store.destroy();
  },
);
