import { expect, test } from 'vitest';
import readme from '../README.md?raw';
import * as burrow from '../src/index.ts';

const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) =>
  code.replace(/^import .*$/m, ''),
);

/** Runs code of the README as a page would, with the names it has by then. */
const run = (code: string, names: Readonly<Record<string, unknown>>): Promise<unknown> => {
  const parameters = Object.keys(names);
  // eslint-disable-next-line typescript/no-implied-eval -- the README is ours
  const body = new Function(...parameters, `return (async () => {${code}})()`) as (
    ...values: unknown[]
  ) => Promise<unknown>;
  return body(...Object.values(names));
};

test('what the README shows works when pasted', async () => {
  const [start = '', login = ''] = blocks;
  const told: unknown[][] = [];
  const console = { log: (...said: unknown[]) => told.push(said) };
  const db = (await run(`${start}\nreturn db`, { ...burrow, console })) as burrow.Database;
  await expect.poll(() => told.length).toBeGreaterThanOrEqual(2);
  expect(told.find(([, what]) => what === 'notes')).toEqual([1, 'notes']);
  const admin = db.client();
  await admin.query(burrow.q.CreateCollection({ name: 'users' }));
  const user = { email: 'ada@example.org', password: 'a good password' };
  const isOut = await run(
    `${login}\nreturn me.query(q.CurrentIdentity()).catch(({ status }) => status)`,
    {
      ...burrow,
      ...user,
      db,
      admin,
    },
  );
  expect(isOut).toBe(401);
  const shared = blocks.find((block) => block.includes('signOut')) ?? '';
  await run(`${shared}\nreturn hers.close().catch(() => undefined)`, {
    ...burrow,
    ...user,
    db,
    console,
  });
  expect(await burrow.listDatabases('field-notes')).toEqual([]);
  expect(told.at(-1)?.[0]).toMatch(/^[\w-]{43}$/);
});
