import { expect, test } from 'vitest';
import { inLanes, run } from './side-by-side.mjs';

/** @param {string} code */
const program = (code) => run(process.execPath, ['-e', code]);

test('run() returns what a program prints, and whether it succeeded', async () => {
  expect(await program("console.log('a heron')")).toEqual({ ok: true, printed: 'a heron\n' });
  const failed = await program("console.error('no heron'); process.exitCode = 3");
  expect(failed).toEqual({ ok: false, printed: 'no heron\n' });
});

test('run() decodes a letter whose bytes arrive in two chunks', async () => {
  const { printed } = await program(
    'process.stdout.write(Buffer.from([0xc3]), () => process.stdout.write(Buffer.from([0xa4])))',
  );
  expect(printed).toBe('ä');
});

test('run() rejects if the program does not exist', async () => {
  await expect(run('/nowhere/program', [])).rejects.toThrow('ENOENT');
});

test('inLanes() runs a limited number of jobs at a time, and returns their results in order', async () => {
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

test('inLanes() rejects when a job rejects', async () => {
  const failing = inLanes([1, 2], 1, () => Promise.reject(new Error('a job failed')));
  await expect(failing).rejects.toThrow('a job failed');
});

test('inLanes() without jobs returns an empty list', async () => {
  expect(await inLanes([], 2, async () => 1)).toEqual([]);
});
