import { describe, expect, test } from 'vitest';
import { EngineWorld, coll, obj, type Query } from '../testing/engine-world.ts';

const lambda = (pattern: unknown, expr: unknown): Query => ({ query: { lambda: pattern, expr } });

describe.each(['update', 'replace'])('%s accepts fields that were read', (verb) => {
  const on = (resource: unknown, ...actions: readonly string[]) =>
    obj({ resource, actions: obj(Object.fromEntries(actions.map((each) => [each, true]))) });

  async function staleWorld(): Promise<EngineWorld> {
    const w = new EngineWorld();
    await w.ask({ create_collection: obj({ name: 'jars' }) });
    await w.ask({ create_collection: obj({ name: 'pots' }) });
    await w.ask({ create_index: obj({ name: 'i', source: [coll('jars'), coll('pots')] }) });
    await w.ask({ create_index: obj({ name: 'old', source: coll('pots') }) });
    await w.ask({ create_function: obj({ name: 'f', body: lambda('x', 1) }) });
    const privileges = [
      on(coll('jars'), 'read'),
      on(coll('pots'), 'read'),
      on({ index: 'old' }, 'read'),
      on({ function: 'f' }, 'call'),
    ];
    const membership = obj({ resource: coll('jars'), predicate: lambda('x', true) });
    await w.ask({ create_role: obj({ name: 'r', privileges, membership }) });
    for (const gone of [coll('jars'), { index: 'old' }, { function: 'f' }])
      await w.ask({ delete: gone });
    return w;
  }

  test.each([
    ['role', 'r', ['name', 'privileges', 'membership']],
    ['index', 'i', ['name', 'source']],
  ])('from the %s %s, although it names deleted objects', async (kind, name, names) => {
    const w = await staleWorld();
    const target = { [kind]: name };
    const read = await w.document({ get: target });
    const members = obj(
      Object.fromEntries(names.map((each) => [each, { select: each, from: { var: 'read' } }])),
    );
    const inOneQuery = {
      let: [{ read: { get: target } }],
      in: { [verb]: target, params: members },
    };
    const inTwo = { let: [{ read: wireOf(read) }], in: { [verb]: target, params: members } };
    for (const query of [inOneQuery, inTwo]) {
      expect({ ...(await w.document(query)), ts: read.ts }).toEqual(read);
    }
  });

  test('with a privilege added to them', async () => {
    const w = await staleWorld();
    const { privileges } = (await w.document({ get: { role: 'r' } })) as unknown as {
      readonly privileges: readonly unknown[];
    };
    const more = [...privileges.map(wireOf), on(coll('pots'), 'write')];
    const params = obj({ name: 'r', privileges: more });
    const written = await w.document({ [verb]: { role: 'r' }, params });
    expect(written).toMatchObject({ privileges: [...privileges, { actions: { write: true } }] });
  });
});

/** Converts a value that was read to the query that writes it back. */
const wireOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(wireOf);
  if (typeof value !== 'object' || value === null || '@ref' in value) return value;
  if ('@query' in value) return value;
  return obj(Object.fromEntries(Object.entries(value).map(([name, each]) => [name, wireOf(each)])));
};
