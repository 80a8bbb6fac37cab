import { afterEach, beforeEach, expect, test, vi, type MockInstance } from 'vitest';
import { checkName } from '../../src/client/stored-names.ts';
import { freshName } from '../testing/store-kit.ts';
import { renewLogAfterKill, renewLogAfterLoss } from './renew-log.ts';
import { marksOfKilled, removeMarksOf, WriteMark } from './write-mark.ts';

let open: MockInstance<IDBFactory['open']>;
const opened = (): readonly string[] => open.mock.calls.map(([name]) => name);

beforeEach(() => {
  open = vi.spyOn(IDBFactory.prototype, 'open');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all((await marksOfKilled([])).map((mark) => mark.remove()));
});

/** WebKit writes files only in workers. Burrow renews logs only in Chromium, so what needs a file there is tested in the other engines. */
const canWriteFiles = 'createWritable' in FileSystemFileHandle.prototype;

/**
 * Leaves the mark of a worker that no longer exists. Only in a worker does `set()` write the contents that show its log to be intact, so
 * they are written here; without them the log is in doubt.
 */
async function markedWorker(contents = 'x'): Promise<string> {
  const worker = freshName();
  await new WriteMark('notes', worker).set();
  if (!canWriteFiles) return worker;
  const marks = await (await navigator.storage.getDirectory()).getDirectoryHandle('burrow-writing');
  const file = await (await marks.getDirectoryHandle('notes')).getFileHandle(worker);
  const stream = await file.createWritable();
  await stream.write(contents);
  await stream.close();
  return worker;
}

const killed = async (): Promise<readonly string[]> =>
  (await marksOfKilled([])).map(({ worker }) => worker);

const scratches = async (): Promise<number> =>
  (await indexedDB.databases()).filter(({ name }) => name === 'burrow:scratch:files:token').length;

// Not compared with an exact list: workers of other test files come and go in the same origin.
test('renewLogAfterKill() writes to a scratch database once after a worker was killed, and removes it', async () => {
  const worker = await markedWorker();
  expect(await killed()).toContain(worker);
  await renewLogAfterKill([]);
  expect(opened()).toEqual(['burrow:scratch:files:token']);
  expect(await killed()).not.toContain(worker);
  expect(await scratches()).toBe(0);
  await renewLogAfterKill(await killed());
  expect(opened()).toHaveLength(1);
});

test('renewLogAfterKill() deletes no database of the app, whatever its name is', async () => {
  await markedWorker();
  await renewLogAfterKill([]);
  expect(opened()).toHaveLength(1);
  for (const name of opened()) expect(() => checkName(name)).toThrow('The name of a database');
});

test.skipIf(!canWriteFiles)(
  'renewLogAfterKill() writes nothing for workers that ended while the browser kept running',
  async () => {
    const worker = await markedWorker();
    await renewLogAfterKill([worker, ...(await killed())]);
    expect(opened()).toEqual([]);
    // Its mark was removed, so it does not count as killed, even when the record of its end is gone too.
    expect(await killed()).not.toContain(worker);
  },
);

test('renewLogAfterKill() writes for a worker whose log is in doubt, however it ended', async () => {
  const worker = await markedWorker('');
  await renewLogAfterKill([worker]);
  expect(opened()).toEqual(['burrow:scratch:files:token']);
  expect(await killed()).not.toContain(worker);
});

test.skipIf(!canWriteFiles).each(['QuotaExceededError', 'InvalidStateError'])(
  'renewLogAfterKill() writes nothing and keeps the mark while there is no space (%s)',
  async (name) => {
    const worker = await markedWorker();
    const full = vi
      .spyOn(FileSystemFileHandle.prototype, 'createWritable')
      .mockRejectedValue(new DOMException('full', name));
    await expect(renewLogAfterKill([])).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(opened()).toEqual([]);
    expect(await killed()).toContain(worker);
    full.mockRestore();
    await renewLogAfterKill([]);
    expect(opened()).toHaveLength(1);
    expect(await killed()).not.toContain(worker);
  },
);

test('a mark in doubt stays when its worker closes its store, until the log was renewed', async () => {
  const worker = freshName();
  const mark = new WriteMark('notes', worker);
  await mark.set();
  await mark.doubt();
  await mark.remove();
  expect(await killed()).toContain(worker);
  await renewLogAfterLoss(mark);
  expect(opened()).toHaveLength(1);
  expect(await killed()).not.toContain(worker);
});

test('a mark that was removed, as after a move of the database, is set again by the next write', async () => {
  const worker = freshName();
  const mark = new WriteMark('notes', worker);
  await mark.set();
  await mark.remove();
  expect(await killed()).not.toContain(worker);
  await mark.set();
  expect(await killed()).toContain(worker);
});

test('a running worker does not count as killed, nor does one that has closed its store', async () => {
  const worker = freshName();
  const mark = new WriteMark('notes', worker);
  await navigator.locks.request(worker, async () => {
    await mark.set();
    expect(await killed()).not.toContain(worker);
  });
  expect(await killed()).toContain(worker);
  await mark.remove();
  expect(await killed()).not.toContain(worker);
});

test('removeMarksOf() removes the marks of a database', async () => {
  const name = freshName();
  const worker = freshName();
  const mark = new WriteMark(name, worker);
  await mark.set();
  await removeMarksOf(name);
  expect(await killed()).not.toContain(worker);
  await mark.remove();
});

test('set() writes a mark once, and returns undefined after that', async () => {
  const mark = new WriteMark('notes', freshName());
  const first = mark.set();
  expect(mark.set()).toBe(first);
  await first;
  expect(mark.set()).toBeUndefined();
  await mark.remove();
});
