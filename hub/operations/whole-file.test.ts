import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { OperationFault } from './operation-fault.ts';
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

test('what is no file is not replaced, and nothing is written for it', async () => {
  const write = async () => expect.unreachable();
  const [made, device] = [join(folder, 'folder'), join(folder, 'device')];
  await mkdir(made);
  await symlink('/dev/null', device);
  for (const file of [made, device]) {
    const refused = wholeFile(file, write);
    await expect(refused).rejects.toThrow(OperationFault);
    await expect(refused).rejects.toThrow(`${file} is not a file`);
  }
  expect(await readdir(folder)).toEqual(['device', 'folder']);
});

test('a link stays one, as /dev/stdout of a shell that writes to a file: what it leads to is replaced', async () => {
  const [file, link] = [join(folder, 'dump'), join(folder, 'link')];
  await writeFile(file, 'former');
  await symlink(file, link);
  await wholeFile(link, (path) => writeFile(path, 'new'));
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect(await readFile(file, 'utf8')).toBe('new');
  expect(await readdir(folder)).toEqual(['dump', 'link']);
});

test('an error of a full disk names the file', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
  });
  const refused = wholeFile(join(folder, 'dump'), () => Promise.reject(full));
  await expect(refused).rejects.toThrow(`Cannot write ${join(folder, 'dump')}: ENOSPC`);
});

test.each(['SIGINT', 'SIGTERM'] as const)('of one that %s ends nothing is left', async (signal) => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  const file = join(folder, 'dump');
  const ended = wholeFile(file, async (path) => {
    await writeFile(path, 'half');
    process.emit(signal, signal);
    expect(await readdir(folder)).toEqual([]);
    expect(kill).toHaveBeenCalledWith(process.pid, signal);
    throw new Error('ended');
  });
  await expect(ended).rejects.toThrow('ended');
});
