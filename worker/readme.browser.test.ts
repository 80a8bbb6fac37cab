import { expect, test } from 'vitest';
import readme from '../README.md?raw';
import * as burrow from '../src/index.ts';

/** The names that the README imports. Its code must not need any other names of the package. */
const imported = Object.fromEntries(
  [...readme.matchAll(/^import \{ (.*) \} from 'burrowdb'$/gm)]
    .flatMap(([, names = '']) => names.split(', '))
    .map((name) => [name, Reflect.get(burrow, name)]),
);

const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) =>
  code.replace(/^import .*$/m, ''),
);

/** Runs code of the README as a page would, with the variables that it has at that point. */
const run = (code: string, names: Readonly<Record<string, unknown>>): Promise<unknown> => {
  const parameters = Object.keys(names);
  // eslint-disable-next-line typescript/no-implied-eval -- the README is ours
  const body = new Function(...parameters, `return (async () => {${code}})()`) as (
    ...values: unknown[]
  ) => Promise<unknown>;
  return body(...Object.values(names));
};

/** The code of a whole app: all blocks up to the one about shared devices, pasted into one file. */
const [start = '', login = ''] = blocks;
const shared = blocks.find((block) => block.includes('signOut')) ?? '';

test('the code in the README works when pasted into one file', async () => {
  const received: unknown[][] = [];
  const console = { log: (...said: unknown[]) => received.push(said) };
  const names = { ...imported, console };
  const code = `${start}\n${login}
    const isOut = await me.query(q.CurrentIdentity()).catch(({ status }) => status)
    ${shared}
    await hers.close().catch(() => undefined)
    return isOut`;
  expect(await run(code, names)).toBe(401);
  expect(received.find(([, what]) => what === 'notes')).toEqual([1, 'notes']);
  expect(await burrow.listDatabases('field-notes')).toEqual([]);
  expect(received.at(-1)?.[0]).toMatch(/^[\w-]{43}$/);
});

test('the code in the README works in two tabs that start at once', async () => {
  const names = { ...imported, console: { log: () => undefined } };
  const tab = () => run(`${start}\n${login}\nreturn db`, names) as Promise<burrow.Database>;
  const [one, two] = await Promise.all([tab(), tab()]);
  const { q } = burrow;
  const counts = [q.Count(q.Documents(q.Collection('users'))), q.Count(q.Indexes())];
  expect(await one.client().query(counts)).toEqual([1, 2]);
  await two.close();
  await one.destroy();
});
