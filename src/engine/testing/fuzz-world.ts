/** An in-memory engine with real time, and a database with a little of everything. */
import { randomBytes } from 'node:crypto';
import { sha256 } from './sha256.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { ApiVersion } from '../../query/session.ts';
import type { QueryAnswer } from '../context/host.ts';
import type { Engine } from '../engine.ts';
import { createEngine } from '../engine.ts';
import { coll, create, fakeHash, obj, ROOT, type Query } from './engine-world.ts';

/** Time limit of a query. */
const TIMEOUT_MS = 1000;

const clock = (): number => Math.floor((performance.timeOrigin + performance.now()) * 1000);

export function createTestEngine(more: Partial<Parameters<typeof createEngine>[0]> = {}): Engine {
  return createEngine({
    store: createMemoryStore(),
    clock,
    random: (count) => new Uint8Array(randomBytes(count)),
    sha256,
    passwords: {
      hash: (password, cost) => Promise.resolve(fakeHash(password, cost)),
      verify: (password, hash) => Promise.resolve(hash === fakeHash(password, 10)),
    },
    hashCost: 10,
    durability: 'relaxed',
    rootSecret: ROOT,
    regionGroup: 'local',
    pause: () => Promise.resolve(),
    ...more,
  });
}

export const askText = (
  engine: Engine,
  query: string,
  apiVersion: ApiVersion = '4',
  timeoutMs = TIMEOUT_MS,
): Promise<QueryAnswer> =>
  engine.query({ secret: ROOT, query, apiVersion, allows: 'write', timeoutMs });

const lambda = (expr: Query): Query => ({ query: { lambda: 'x', expr } });

const SET_UP: readonly Query[] = [
  { create_collection: obj({ name: 'people' }) },
  {
    create_index: obj({
      name: 'by_age',
      source: coll('people'),
      terms: [obj({ field: ['data', 'age'] })],
      values: [obj({ field: ['data', 'name'], reverse: true }), obj({ field: 'ref' })],
    }),
  },
  {
    create_function: obj({ name: 'double', body: lambda({ multiply: [{ var: 'x' }, 2] }) }),
  },
  {
    do: [
      create({ ref: coll('people'), id: '100' }, { name: 'Ada', age: 30, tags: ['a', 'b'] }),
      create({ ref: coll('people'), id: '101' }, { name: 'Bob', age: 30, a: obj({ b: 1 }) }),
      create(
        { ref: coll('people'), id: '102' },
        { name: 'Cy', age: 41 },
        {
          credentials: obj({ password: 'secret' }),
        },
      ),
    ],
  },
];

export async function openFuzzWorld(): Promise<Engine> {
  const engine = createTestEngine();
  for (const query of SET_UP) {
    const { status, body } = await askText(engine, JSON.stringify(query));
    if (status >= 300) throw new Error(body);
  }
  return engine;
}
