import { expect, test } from 'vitest';
import type { Micros } from '../../values/value.ts';
import type { QueryAnswer } from '../context/host.ts';
import { create, doc, EngineWorld, obj, ROOT } from '../testing/engine-world.ts';

const SECOND = 1_000_000;

const note = doc('notes', 1);
const setTo = (n: number) => ({ update: note, params: obj({ data: obj({ n }) }) });
const worldOn = async (...options: ConstructorParameters<typeof EngineWorld>) => {
  const world = new EngineWorld(...options);
  await world.ask({ create_collection: obj({ name: 'notes' }) });
  await world.ask(create(note, { n: 1 }));
  return world;
};

/** As `answer`, with what only requests have; the clock stands still. */
const query = (
  { engine }: EngineWorld,
  text: unknown,
  more: { readonly lastSeenTxn?: Micros; readonly arrived?: Micros } = {},
): Promise<QueryAnswer> =>
  engine.query({
    secret: ROOT,
    query: JSON.stringify(text),
    apiVersion: '4',
    allows: 'write',
    ...more,
  });

test('X-Last-Seen-Txn moves the time of commits by no more than its limit, however often', async () => {
  const world = await worldOn();
  for (let i = 0; i < 5; i++)
    await query(world, setTo(i), { lastSeenTxn: Number.MAX_SAFE_INTEGER });
  const { txnTime } = await query(world, { get: note });
  expect(txnTime - world.now).toBeLessThan(61 * SECOND);
});
