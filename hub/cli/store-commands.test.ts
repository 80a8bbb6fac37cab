/** The target of a load or move must outlive the command. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import { dumpStore } from '../operations/dump.ts';
import { HUB_ROWS, put } from '../store/hub-rows.ts';
import { openHubStore } from '../store/open-store.ts';
import { prepareFolder } from '../testing/prepared-pglite.ts';
import { runCommand as burrow } from '../testing/run-command.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'burrow-store-commands-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A folder with one row, as if a hub had used it. */
async function makeData(): Promise<string> {
  const data = await prepareFolder(join(folder, 'data'));
  const opened = await openHubStore({ at: { data } });
  const puts = [put(HUB_ROWS.urlKey, 'a key')];
  await opened.store.write(async (tx) => tx.apply({ puts, deletes: [] }), { durability: 'strict' });
  await opened.close();
  return data;
}

test.each(['memory:', 'memory'])('load and move refuse %s as the target', async (where) => {
  const file = join(folder, 'backup.gz');
  await dumpStore(createMemoryStore(), file, {
    now: () => new Date(0),
    onProgress: () => undefined,
  });
  await expect(burrow('load', file, '--data', where)).rejects.toThrow('keeps nothing');
  const data = await makeData();
  await expect(burrow('move', '--from', data, '--to', where)).rejects.toThrow('keeps nothing');
  // The refused move has not marked the source as moved, so a hub can still serve it.
  expect((await burrow('dump', file, '--data', data)).join()).not.toContain('were moved');
});

test.each([
  ['an empty file', '', 'is empty'],
  ['a text', 'a letter', 'is not a dump'],
  ['an export', '{"format":"burrow-export"}', 'is not a dump'],
])('load refuses %s and creates no store', async (_, text, why) => {
  const file = join(folder, 'backup.gz');
  await writeFile(file, gzipSync(text));
  const loading = burrow('load', file, '--data', join(folder, 'data'));
  await expect(loading).rejects.toThrow(why);
  expect(await readdir(folder)).toEqual(['backup.gz']);
});

test('a dump is refused if the store lacks the write given by --last-seen', async () => {
  const data = await makeData();
  const dump = (txn: string): Promise<readonly string[]> =>
    burrow('dump', join(folder, 'backup.gz'), '--data', data, '--last-seen', txn);
  await expect(dump('1790000000000001')).rejects.toThrow(
    'the one from 1790000000000001 is missing',
  );
  expect((await dump('0')).at(-1)).toContain('Dumped');
});

test('a move with an empty --to is refused', async () => {
  const data = await makeData();
  await expect(burrow('move', '--from', data, '--to', ' ')).rejects.toThrow('Invalid --to');
});

test('a move names the files that it does not copy; a later dump of the old folder names the new one', async () => {
  const data = await makeData();
  await mkdir(join(data, 'files'));
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  for (const each of [first, second]) await prepareFolder(each);
  await writeFile(join(data, 'files', 'one'), '');
  const said = await burrow('move', '--from', data, '--to', first);
  expect(said.at(-1)).toBe(
    `Files of documents are not copied: they are still in ${join(data, 'files')}.`,
  );
  expect((await burrow('move', '--from', first, '--to', second)).at(-1)).toContain('SHA-256');
  const dumped = await burrow('dump', join(folder, 'backup.gz'), '--data', data);
  expect(dumped.at(-1)).toBe(`This data was moved to PGlite in ${first}: later writes are there.`);
  expect(await readdir(folder)).toContain('backup.gz');
});
