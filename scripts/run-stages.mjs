// Runs the stages of `npm test`, and adds up their results.
import { resolve } from 'node:path';
import { root, say } from './setup.mjs';
import { run, secondsSince } from './side-by-side.mjs';

/** @typedef {import('./test-stages.mjs').Stage} Stage */
/** @typedef {import('./test-stages.mjs').Tally} Tally */
/** @typedef {import('./test-stages.mjs').StageReport & { stage: Stage; ok: boolean }} Outcome */
/**
 * `unsteady`: names of runs or tests that passed only at the second attempt.
 * @typedef {{ tally: Tally; unsteady: readonly string[] }} Settled
 */

/** @param {Stage} stage @returns {Promise<Outcome>} */
export async function runStage(stage) {
  say(`Running ${stage.name}.`);
  const startedMs = performance.now();
  const program = [resolve(root, stage.program), ...stage.args];
  const env = { ...process.env, ...(await stage.env()) };
  const { ok } = await run(process.execPath, program, { env, isShown: true });
  const report = stage.readReport();
  const { passed, failed } = report.tally;
  say(`Ended: ${stage.name}: ${passed} passed, ${failed} failed (${secondsSince(startedMs)} s).`);
  return { stage, ok, ...report };
}

/**
 * Counts one failure for a run that failed without a failed test (a crash, no report), or in which no test ran.
 * @param {Outcome} outcome @returns {Tally}
 */
function withCrashAsFailure({ stage, ok, tally }) {
  const hasRun = tally.passed > 0 || (stage.mayBeSkipped === true && tally.skipped > 0);
  return (ok && hasRun) || tally.failed > 0 ? tally : { ...tally, failed: 1 };
}

const FILES_AGAIN_MAX = 4;

/**
 * Tests with browsers, servers and other processes depend on timing, which no seed controls: up to four failed files are run once more,
 * alone. Files that pass only then are listed in the last lines, because the test or the code has a defect.
 *
 * @param {Outcome} outcome @returns {Promise<Settled>}
 */
export async function settle(outcome) {
  const { stage, ok, tally, failedFiles, unsteady } = outcome;
  const areFew = failedFiles.length > 0 && failedFiles.length <= FILES_AGAIN_MAX;
  if (ok || !areFew || stage.again === undefined)
    return { tally: withCrashAsFailure(outcome), unsteady };
  const again = stage.again(failedFiles);
  if (!(await runStage(again)).ok) return { tally: withCrashAsFailure(outcome), unsteady };
  return {
    tally: { ...tally, passed: tally.passed + tally.failed, failed: 0 },
    unsteady: [...unsteady, again.name],
  };
}

/** @param {readonly Tally[]} tallies @returns {Tally} */
export function totalOf(tallies) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of tallies) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  if (total.passed + total.failed > 0) return total;
  say('No test ran.');
  return { ...total, failed: 1 };
}
