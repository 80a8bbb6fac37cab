/** `burrow schema diff`, `burrow schema apply` and `burrow types` as processes; the first two with modules like those of an app. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { root } from '../scripts/setup.mjs';
import { ROOT_SECRET, runBurrow } from './testing/hub-process.ts';
import { hubProcesses } from './testing/hub-processes.ts';

const { folder: makeFolder, prepared, open } = hubProcesses();

/** Makes the package available to the modules that import it. */
async function placePackage(folder: string): Promise<string> {
  const input = join(folder, 'entry.ts');
  await writeFile(
    input,
    `export { q } from ${JSON.stringify(join(root, 'src/index.ts'))};
     export { defineSchema } from ${JSON.stringify(join(root, 'src/schema/schema.ts'))};`,
  );
  const build = await rolldown({ input, platform: 'node' });
  const { output } = await build.generate({ format: 'es', codeSplitting: false });
  await build.close();
  const file = join(folder, 'burrowdb.mjs');
  await writeFile(file, output[0].code);
  return pathToFileURL(file).href;
}

test(
  "the commands compare a schema with a hub's, apply it, and apply a changed one",
  { timeout: 600_000 },
  async () => {
    const folder = await makeFolder();
    const from = await placePackage(folder);
    const hub = await open({ args: ['--data', await prepared()] });
    const to = ['--url', hub.url, '--secret', ROOT_SECRET];
    const burrow = async (...args: string[]) => {
      const { exited, said } = await runBurrow({ args: ['schema', ...args, ...to] });
      return { code: (await exited).code, said: said() };
    };
    const file = join(folder, 'schema.mjs');
    const write = (version: number, definition: string, more = '') =>
      writeFile(
        file,
        `import { defineSchema, q } from ${JSON.stringify(from)};
       export const version = ${version};
       export const schema = defineSchema(${definition});
       ${more}`,
      );

    await write(
      1,
      `{ collections: { notes: {} }, indexes: { notes_by_tag: { source: 'notes', terms: [{ field: ['data', 'tag'] }] } } }`,
    );
    const first = await burrow('diff', file);
    expect(first.code).toBe(1);
    expect(first.said).toMatch(
      /create collection notes\ncreate index notes_by_tag\n.*Changes to apply: 2/s,
    );
    expect(await burrow('apply', file)).toMatchObject({
      code: 0,
      said: expect.stringMatching(/The schema has version 1; it had 0\./) as unknown,
    });
    expect(await burrow('diff', file)).toMatchObject({
      code: 0,
      said: expect.stringContaining('The database has this schema.') as unknown,
    });

    await write(
      2,
      `{ collections: { notes: {}, tags: {} } }`,
      `export const steps = { 2: q.Create(q.Ref(q.Collection('tags'), '1'), { data: { name: 'bird' } }) };`,
    );
    expect((await burrow('diff', file)).said).toMatch(
      /create collection tags\nremove index notes_by_tag/,
    );
    expect((await burrow('apply', file)).said).toContain('The schema has version 2; it had 1.');
    const asked = await fetch(hub.url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ROOT_SECRET}`, 'X-FaunaDB-API-Version': '4' },
      body: JSON.stringify({ count: { documents: { collection: 'tags' } } }),
    });
    expect(await asked.json()).toEqual({ resource: 1 });

    await write(3, `{ collections: { notes: {} } }`);
    const lossy = await burrow('apply', file);
    expect(lossy.code).toBe(1);
    expect(lossy.said).toMatch(
      /would lose data\. Name the collections in --allow-loss [^]*remove collection tags; this loses its documents/,
    );
    expect((await burrow('apply', file, '--allow-loss', 'tags')).said).toContain(
      'version 3; it had 2.',
    );

    const out = join(folder, 'types.ts');
    const types = await runBurrow({ args: ['types', '--out', out, ...to] });
    expect((await types.exited).code).toBe(0);
    expect(await readFile(out, 'utf8')).toContain(
      'export const notes = q.Collection<Notes>("notes");',
    );

    expect((await burrow('apply', 'schema.ts')).said).toContain('is TypeScript');
    expect((await burrow('apply', join(folder, 'none.mjs'))).said).toContain('could not be loaded');
    await writeFile(file, 'export const version = 4;');
    expect((await burrow('apply', file)).said).toContain('must export `schema`');
  },
);
