import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { wholeFile } from './whole-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'burrow-whole-file-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a file has its name when it is complete', async () => {
  const file = join(folder, 'dump');
  await writeFile(file, 'former');
  const write = async (path: string) => {
    await writeFile(path, 'new');
    expect(await readFile(file, 'utf8')).toBe('former');
    return 3;
  };
  expect(await wholeFile(file, write)).toBe(3);
  expect(await readFile(file, 'utf8')).toBe('new');
  expect(await readdir(folder)).toEqual(['dump']);
});

test('of one that failed nothing is left, and the former one stays', async () => {
  const file = join(folder, 'dump');
  await writeFile(file, 'former');
  const write = async (path: string) => {
    await writeFile(path, 'half');
    throw new Error('no space');
  };
  await expect(wholeFile(file, write)).rejects.toThrow('no space');
  expect(await readFile(file, 'utf8')).toBe('former');
  expect(await readdir(folder)).toEqual(['dump']);
});
