// The code of docs/data.md runs from top to bottom, on a database and a hub of this process.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { exportDatabase, importDatabase, storageUse, watchStorage } from '../src/data/data.ts';
import { q } from '../src/index.ts';
import { connect } from '../in-process/remote.ts';
import { openDatabase } from '../in-process/testing.ts';
import { openTestHub } from '../hub/testing/test-hub.ts';
import { root } from './setup.mjs';

const FENCE = /^```ts\n([\s\S]*?)^```$/gm;
const IMPORT = /^import .*;\n/gm;

/** What the page leaves to its reader: a file that was picked, and the address of a hub. */
const GIVEN = /** @type {const} */ ([
  ["new File([], 'notes.burrow')", 'file'],
  ["'https://hub.example'", 'hub.url'],
]);

const Program = /** @type {FunctionConstructor} */ (
  Object.getPrototypeOf(async () => undefined).constructor
);

function programOfPage() {
  const text = readFileSync(join(root, 'docs/data.md'), 'utf8');
  let program = [...text.matchAll(FENCE)].map(([, code = '']) => code.replace(IMPORT, '')).join('');
  for (const [left, given] of GIVEN) {
    expect(program).toContain(left);
    program = program.replace(left, given);
  }
  const { outputText } = ts.transpileModule(program, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  return `${outputText.replace(/export \{\};?/, '')}; return { result, use };`;
}

test('the code of docs/data.md runs, and does what it says', async () => {
  const hub = await openTestHub();
  const db = await openDatabase('notes');
  await db.client().query(q.CreateCollection({ name: 'notes' }));
  await db.client().query(q.CreateCollection({ name: 'users' }));
  await db.client().query(q.Create(q.Ref(q.Collection('notes'), '9'), { data: { title: 'here' } }));
  /** @type {unknown[]} */
  const logged = [];
  const given = {
    exportDatabase,
    importDatabase,
    storageUse,
    watchStorage,
    connect,
    db,
    hub: { url: hub.url },
    key: hub.secret,
    console: { log: (/** @type {unknown[]} */ ...values) => logged.push(values.join(' ')) },
  };
  const { result, use } = await new Program(...Object.keys(given), programOfPage())(
    ...Object.values(given),
  );
  // What it had exported was there.
  expect(result).toMatchObject({ imported: 0, same: 1 });
  expect(logged).toContain('0 imported, 1 were there');
  // Node tells nothing of storage.
  expect(use).toBeUndefined();
  const titles = q.Map(q.Paginate(q.Documents(q.Collection('notes'))), (ref) =>
    q.Select(['data', 'title'], q.Get(ref)),
  );
  const wanted = { data: ['a heron', 'two frogs', 'a heron, grey', 'three frogs', 'here'] };
  expect(await db.client().query(titles)).toMatchObject(wanted);
  const remote = await connect({ url: hub.url, secret: hub.secret });
  expect(await remote.client().query(titles)).toMatchObject(wanted);
  await remote.close();
  await db.close();
  await hub.close();
});
