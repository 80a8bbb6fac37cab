import { expect, test } from 'vitest';
import { EngineWorld, ROOT } from '../testing/engine-world.ts';

/** The answer to a query whose caller leaves after `executions` executions of it. */
async function abandonAfter(executions: number, query: unknown) {
  const world = new EngineWorld();
  await world.ask({ create_collection: { object: { name: 'notes' } } });
  let asked = 0;
  const answer = await world.engine.query({
    secret: ROOT,
    query: JSON.stringify(query),
    apiVersion: '4',
    allows: 'write',
    isAbandoned: () => asked++ >= executions,
  });
  const count = { count: { documents: { collection: 'notes' } } };
  return { answer, asked, stored: await world.ask(count) };
}

const create = { create: { collection: 'notes' }, params: { object: {} } };

test('an abandoned query is not executed, and writes nothing', async () => {
  for (const query of [create, { exists: { collection: 'notes' } }]) {
    const { answer, asked, stored } = await abandonAfter(0, query);
    expect(answer).toMatchObject({ status: 503, metrics: { writeOps: 0 } });
    expect(answer.body).toContain('"time out"');
    expect([asked, stored]).toEqual([1, 0]);
  }
});

test('a query that is abandoned between two executions is not executed again', async () => {
  const missing = { get: { ref: { collection: 'notes' }, id: '1' } };
  const { answer, asked, stored } = await abandonAfter(1, { do: [create, missing] });
  expect(answer.status).toBe(503);
  expect([asked, stored]).toEqual([2, 0]);
});

test('a query that is abandoned after its last execution is committed', async () => {
  const { answer, stored } = await abandonAfter(9, create);
  expect([answer.status, stored]).toEqual([201, 1]);
});
