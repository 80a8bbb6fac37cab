import { afterEach, beforeEach, expect, test, vi, type MockInstance } from 'vitest';
import { freshName } from '../testing/store-kit.ts';
import { renewLogAfterKill } from './renew-log.ts';
import { killedWriters, removeMarks, WriteMark } from './write-mark.ts';

let open: MockInstance<IDBFactory['open']>;
const opened = (): readonly string[] => open.mock.calls.map(([name]) => name);

beforeEach(() => {
  open = vi.spyOn(IDBFactory.prototype, 'open');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await removeMarks(await killedWriters([]));
});

/** The mark of a worker that is no more. */
async function markedWorker(): Promise<string> {
  const worker = freshName();
  await new WriteMark(worker).set();
  return worker;
}

const scratches = async (): Promise<number> =>
  (await indexedDB.databases()).filter(({ name }) => name === 'burrow:scratch').length;

// Workers of other test files come and go in the same origin.
test('renewLogAfterKill() writes for a worker that was killed, once, and leaves nothing', async () => {
  const worker = await markedWorker();
  expect(await killedWriters([])).toContain(worker);
  await renewLogAfterKill([]);
  expect(opened()).toEqual(['burrow:scratch']);
  expect(await killedWriters([])).not.toContain(worker);
  expect(await scratches()).toBe(0);
  await renewLogAfterKill(await killedWriters([]));
  expect(opened()).toHaveLength(1);
});

test('renewLogAfterKill() writes nothing after workers that ended while the browser went on', async () => {
  const worker = await markedWorker();
  await renewLogAfterKill([worker, ...(await killedWriters([]))]);
  expect(opened()).toEqual([]);
  // Its mark went, so it is no kill when the note of its end is gone too.
  expect(await killedWriters([])).not.toContain(worker);
});

test('a worker that lives was not killed, nor was one that has closed its store', async () => {
  const worker = freshName();
  const mark = new WriteMark(worker);
  await navigator.locks.request(worker, async () => {
    await mark.set();
    expect(await killedWriters([])).not.toContain(worker);
  });
  expect(await killedWriters([])).toContain(worker);
  await mark.remove();
  expect(await killedWriters([])).not.toContain(worker);
});

test('a mark is set once, and is not waited for after that', async () => {
  const mark = new WriteMark(freshName());
  const first = mark.set();
  expect(mark.set()).toBe(first);
  await first;
  expect(mark.set()).toBeUndefined();
  await mark.remove();
});
