/** `burrow export` and `burrow import` as processes, and the same files in a database of the page. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../in-process/testing.ts';
import { importDatabase } from '../src/data/import.ts';
import { fill, linesOfExport, packed } from '../src/data/testing/kit.ts';
import { ROOT_SECRET, runBurrow } from './testing/hub-process.ts';
import { hubProcesses } from './testing/hub-processes.ts';

const { folder: makeFolder, prepared, open } = hubProcesses();

test('an export file goes from a page to a hub and back', { timeout: 600_000 }, async () => {
  const folder = await makeFolder();
  const hub = await open({ args: ['--data', await prepared()] });
  const to = ['--url', hub.url, '--secret', ROOT_SECRET];
  const burrow = async (...args: string[]) => {
    const { exited, said } = await runBurrow({ args: [...args, ...to] });
    return { code: (await exited).code, said: said() };
  };

  const [from, back] = [await openDatabase(), await openDatabase()];
  await fill(from, { documents: 600 });
  const file = join(folder, 'from-page.burrow');
  await writeFile(file, new Uint8Array(await (await packed(from)).arrayBuffer()));
  expect(await burrow('import', file)).toMatchObject({
    code: 0,
    said: expect.stringMatching(
      /602 imported, 0 exist already\.\nNot in the export: credentials\./,
    ) as unknown,
  });
  expect((await burrow('import', file)).said).toMatch(/0 imported, 602 exist already/);

  const out = join(folder, 'from-hub.burrow');
  expect((await burrow('export', out)).said).toMatch(/Exported 602 documents to /);
  await importDatabase(back, new Blob([new Uint8Array(await readFile(out))]));
  expect(await linesOfExport(back)).toEqual(await linesOfExport(from));

  const lines = join(folder, 'from-hub.jsonl');
  await burrow('export', lines);
  expect((await burrow('import', lines)).said).toMatch(/0 imported, 602 exist already/);
  expect(await burrow('import', lines, '--collection', 'users')).toMatchObject({
    code: 1,
    said: expect.stringContaining('is an export, which names its collections') as unknown,
  });

  const table = join(folder, 'people.csv');
  await writeFile(table, 'no:int,email\n5,b@c\nx,d@e\n');
  const named = ['--collection', 'users', '--id', 'no'];
  expect(await burrow('import', table, ...named)).toMatchObject({
    code: 1,
    said: expect.stringContaining('invalid_line: Line 3, column 1') as unknown,
  });
  await writeFile(table, 'no:int,email\n5,b@c\n1,other@b\n');
  expect(await burrow('import', table, ...named)).toMatchObject({
    code: 1,
    said: expect.stringContaining('clash: Nothing was imported.') as unknown,
  });
  expect((await burrow('import', table, ...named, '--on-clash', 'skip')).said).toMatch(
    /1 imported, 0 exist already, 1 kept as they were/,
  );
  await writeFile(file, (await readFile(file)).subarray(0, 500));
  expect((await burrow('import', file)).said).toContain('damaged: The compressed source');
  expect((await readdir(folder)).filter((name) => name.endsWith('.partial'))).toEqual([]);
  await from.close();
  await back.close();
});
