import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runStage, settle, totalOf } from './run-stages.mjs';

/** @typedef {import('./test-stages.mjs').Stage} Stage */
/** @typedef {import('./test-stages.mjs').StageReport} StageReport */

/** @type {string} */
let folder;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'burrow-stages-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const passed = { tally: { passed: 3, failed: 0, skipped: 1 }, failedFiles: [], unsteady: [] };
const oneFailed = { ...passed, tally: { passed: 2, failed: 1, skipped: 1 }, failedFiles: ['one'] };

/** @param {number} code exit code of its program @param {StageReport} report @param {Partial<Stage>} more @returns {Stage} */
function stageOf(code, report, more = {}) {
  const program = join(folder, `ends-with-${code}.mjs`);
  writeFileSync(program, `process.exitCode = ${code};`);
  return {
    name: 'tests',
    program,
    args: [],
    env: async () => ({}),
    readReport: () => report,
    ...more,
  };
}

/** @param {Stage} stage */
const settled = async (stage) => settle(await runStage(stage));

test('settle() counts the tests in the report', async () => {
  expect(await settled(stageOf(0, passed))).toEqual({ tally: passed.tally, unsteady: [] });
  expect(await settled(stageOf(1, oneFailed))).toEqual({ tally: oneFailed.tally, unsteady: [] });
});

test('settle() counts a failure if a program fails without a failed test, or runs no test', async () => {
  expect((await settled(stageOf(1, passed))).tally.failed).toBe(1);
  const none = { ...passed, tally: { passed: 0, failed: 0, skipped: 4 } };
  expect((await settled(stageOf(0, none))).tally.failed).toBe(1);
  expect((await settled(stageOf(0, none, { mayBeSkipped: true }))).tally.failed).toBe(0);
});

test('settle() runs failed files again, and lists those that pass only then', async () => {
  /** @param {number} code */
  const again = (code) => (/** @type {readonly string[]} */ files) =>
    stageOf(code, passed, { name: `again ${files.join(' and ')}` });
  expect(await settled(stageOf(1, oneFailed, { again: again(0) }))).toEqual({
    tally: { passed: 3, failed: 0, skipped: 1 },
    unsteady: ['again one'],
  });
  expect(await settled(stageOf(1, oneFailed, { again: again(2) }))).toEqual({
    tally: oneFailed.tally,
    unsteady: [],
  });
});

test('settle() runs nothing again when more than four files failed', async () => {
  const five = { ...oneFailed, failedFiles: ['one', 'two', 'three', 'four', 'five'] };
  const again = () => {
    throw new Error('nothing is run again');
  };
  expect((await settled(stageOf(1, five, { again }))).tally).toEqual(five.tally);
});

test('totalOf() adds the counts, and counts a failure when no test ran', () => {
  expect(totalOf([passed.tally, oneFailed.tally])).toEqual({ passed: 5, failed: 1, skipped: 2 });
  expect(totalOf([])).toEqual({ passed: 0, failed: 1, skipped: 0 });
});
