import { expect, test } from 'vitest';
import { inLanes, run } from './side-by-side.mjs';

/** @param {string} code */
const program = (code) => run(process.execPath, ['-e', code]);

test('run() keeps what a program prints, in its order, and says whether it succeeded', async () => {
  expect(await program("console.log('a heron')")).toEqual({ ok: true, printed: 'a heron\n' });
  const failed = await program("console.error('no heron'); process.exitCode = 3");
  expect(failed).toEqual({ ok: false, printed: 'no heron\n' });
});

test('run() keeps letters whole whose bytes come in two parts', async () => {
  const { printed } = await program(
    'process.stdout.write(Buffer.from([0xc3]), () => process.stdout.write(Buffer.from([0xa4])))',
  );
  expect(printed).toBe('ä');
});

test('run() rejects for a program that is not there', async () => {
  await expect(run('/nowhere/program', [])).rejects.toThrow('ENOENT');
});

test('inLanes() works on so many at a time, in their order, and gives results in it', async () => {
  /** @type {number[]} */
  const begun = [];
  /** @type {(() => void)[]} */
  const ends = [];
  const all = inLanes([1, 2, 3, 4], 2, async (job) => {
    begun.push(job);
    await new Promise((resolve) => (ends[job] = () => resolve(undefined)));
    return job * 10;
  });
  expect(begun).toEqual([1, 2]);
  ends[2]?.();
  await expect.poll(() => begun).toEqual([1, 2, 3]);
  ends[3]?.();
  await expect.poll(() => begun).toEqual([1, 2, 3, 4]);
  ends[4]?.();
  ends[1]?.();
  expect(await all).toEqual([10, 20, 30, 40]);
});

test('inLanes() rejects when a job does', async () => {
  const failing = inLanes([1, 2], 1, () => Promise.reject(new Error('a job failed')));
  await expect(failing).rejects.toThrow('a job failed');
});

test('inLanes() has nothing to do without jobs', async () => {
  expect(await inLanes([], 2, async () => 1)).toEqual([]);
});
