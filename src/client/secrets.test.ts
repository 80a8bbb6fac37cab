/** A logged-out user does not become the admin, and the root secret cannot be found by looking at the database's objects. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { UsageError } from './errors.ts';
import { openFake } from './testing/fake-worker.ts';

test.each([null, undefined, ''])(
  'client({ secret: %j }) throws instead of using the root secret',
  async (secret) => {
    const { db } = await openFake();
    expect(() => db.client({ secret } as never)).toThrow(
      'The option `secret` must be a secret: without it, the client is the admin.',
    );
  },
);

test.each([[{ token: 'fnA' }], [{ Secret: 'fnA' }], ['fnA'], [5], [null]])(
  'client(%j) throws instead of using the root secret',
  async (options) => {
    const { db } = await openFake();
    expect(() => db.client(options as never)).toThrow(UsageError);
  },
);

/** All strings that can be reached through members, as error reporters reach them. */
function textsIn(value: unknown, seen = new Set<unknown>()): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const inside = value instanceof Map ? [...value.entries()].flat() : [];
  const members = Object.getOwnPropertyNames(value).map(
    (name) => Reflect.get(value, name) as unknown,
  );
  return [...members, ...inside].flatMap((each) => textsIn(each, seen));
}

test('no member of a database or its clients and no console shows the root secret', async () => {
  const rootSecret = 'fnOfARootThatNobodySees';
  const value = { birth: 'b', rootSecret, persistence: 'best-effort', loss: undefined } as const;
  const { db } = await openFake({ open: () => Promise.resolve({ ok: true, value }) });
  expect(db.rootSecret).toBe(rootSecret);
  const client = db.client();
  client.subscribe(1, { next: () => undefined });
  const objects = { db, client, logs: db.logs };
  expect(textsIn(objects).filter((text) => text.includes(rootSecret))).toEqual([]);
  expect(JSON.stringify(objects)).not.toContain(rootSecret);
  expect(inspect(objects, { depth: 20, showHidden: true, getters: true })).not.toContain(
    rootSecret,
  );
});
