import { randomUUID } from 'node:crypto';
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
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

test('wholeFile() gives a file its name when it is complete', async () => {
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

test('wholeFile() leaves no partial file after a failure and keeps the former file', async () => {
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

test('two commands that write one file at the same time each write a whole file', async () => {
  const file = join(folder, 'dump');
  let path = '';
  let go = (): void => undefined;
  const going = new Promise<void>((resolve) => (go = resolve));
  const first = wholeFile(file, async (own) => {
    await writeFile((path = own), 'first');
    await going;
  });
  await vi.waitUntil(() => path !== '');
  const second = wholeFile(file, async (own) => {
    await writeFile(own, 'sec');
    go();
    await first;
    expect(await readFile(file, 'utf8')).toBe('first');
    await writeFile(own, 'second');
  });
  await second;
  expect(await readFile(file, 'utf8')).toBe('second');
  expect(await readdir(folder)).toEqual(['dump']);
});

test('wholeFile() removes what killed processes have left of the same file', async () => {
  const file = join(folder, 'dump');
  const left = `dump.${randomUUID()}.partial`;
  const others = [`dump.${randomUUID()}.partial`, `dump.2.${randomUUID()}.partial`, 'dump.partial'];
  const [running = '', ...old] = others;
  for (const name of [left, ...others]) await writeFile(join(folder, name), 'half');
  const yesterday = new Date(Date.now() - 86_400_000);
  for (const name of [left, ...old]) await utimes(join(folder, name), yesterday, yesterday);
  await wholeFile(file, (path) => writeFile(path, 'new'));
  expect(await readdir(folder)).toEqual(['dump', running, ...old].toSorted());
});

test('wholeFile() refuses to replace a folder or a device', async () => {
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

test('wholeFile() keeps a link and replaces its target', async () => {
  const [file, link] = [join(folder, 'dump'), join(folder, 'link')];
  await writeFile(file, 'former');
  await symlink(file, link);
  await wholeFile(link, (path) => writeFile(path, 'new'));
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect(await readFile(file, 'utf8')).toBe('new');
  expect(await readdir(folder)).toEqual(['dump', 'link']);
});

test('the error of a full disk names the file', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
  });
  const refused = wholeFile(join(folder, 'dump'), () => Promise.reject(full));
  await expect(refused).rejects.toThrow(`Cannot write ${join(folder, 'dump')}: ENOSPC`);
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'wholeFile() deletes the partial file on %s',
  async (signal) => {
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
  },
);
