// The stages of `npm test`: the program that each one runs, and how its report is read.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { freePort } from './free-port.mjs';
import { root } from './setup.mjs';

/** @typedef {{ passed: number; failed: number; skipped: number }} Tally */
/**
 * `unsteady`: names of runs or tests that passed only at the second attempt.
 * @typedef {{ tally: Tally; failedFiles: readonly string[]; unsteady: readonly string[] }} StageReport
 */

/**
 * @typedef {{
 *   name: string;
 *   program: string;
 *   args: readonly string[];
 *   env: () => Promise<Record<string, string>>;
 *   readReport: () => StageReport;
 *   again?: (files: readonly string[]) => Stage;
 *   mayBeSkipped?: boolean;
 * }} Stage `env`: called when the stage starts; `again`: makes a stage that reruns these files, if failed tests may be run once more;
 * `mayBeSkipped`: all its tests may be skipped
 */

/** @param {string} path */
const readJson = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {});

/**
 * @param {'node' | 'programs' | 'cluster' | 'browsers' | import('./browsers/kinds.mjs').Kind} project
 * @param {string} folder for its report @param {Record<string, string>} env @param {readonly string[]} files all if empty @returns {Stage}
 */
export function vitestStage(project, folder, env, files = []) {
  const file = join(folder, `${project}-${files.length}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const mayRunAgain = project !== 'node' && files.length === 0;
  return {
    name: `${files.length === 0 ? 'the tests' : files.join(' and ')} in ${project} (vitest)`,
    program: 'node_modules/vitest/vitest.mjs',
    args: ['run', '--project', project, ...reporters, ...files],
    env: async () => env,
    readReport() {
      /**
       * @type {{
       *   numPassedTests?: number; numFailedTests?: number; numPendingTests?: number;
       *   testResults?: { name: string; status: string }[];
       * }}
       */
      const found = readJson(file);
      const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0 } = found;
      const failed = (found.testResults ?? []).filter(({ status }) => status === 'failed');
      return {
        tally: { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests },
        failedFiles: failed.map(({ name }) => relative(root, name)),
        unsteady: [],
      };
    },
    ...(mayRunAgain && { again: (failed) => vitestStage(project, folder, env, failed) }),
  };
}

/** @param {string} name @param {string} file for its report @param {readonly string[]} args @returns {Omit<Stage, 'env'>} */
const playwrightStage = (name, file, args) => ({
  name: `${name} (playwright)`,
  program: 'node_modules/@playwright/test/cli.js',
  args: ['test', ...args, '--reporter=list,json'],
  readReport() {
    const { expected = 0, unexpected = 0, flaky = 0, skipped = 0 } = readJson(file).stats ?? {};
    return {
      tally: { passed: expected + flaky, failed: unexpected, skipped },
      failedFiles: [],
      unsteady: flaky > 0 ? [`${flaky} of ${name}, named above as flaky`] : [],
    };
  },
});

/** @param {string} folder @param {Record<string, string>} env @returns {Stage} */
export function endToEndStage(folder, env) {
  const file = join(folder, 'e2e.json');
  return {
    ...playwrightStage('the end-to-end tests on the built demo', file, ['--retries=1']),
    env: async () => ({
      ...env,
      PLAYWRIGHT_JSON_OUTPUT_NAME: file,
      BURROW_E2E_PORT: String(await freePort()),
      BURROW_DEMO_OUT: join(folder, 'demo'),
    }),
  };
}

/**
 * Installs the packed package in each example, builds the example and uses it.
 * @param {string} folder @param {Record<string, string>} env @returns {Stage}
 */
export function examplesStage(folder, env) {
  const file = join(folder, 'examples.json');
  const config = ['--config', 'e2e/examples/playwright.config.ts'];
  return {
    ...playwrightStage('the examples', file, config),
    env: async () => ({ ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: file }),
    // Examples are skipped if npm cannot reach its registry.
    mayBeSkipped: true,
  };
}
