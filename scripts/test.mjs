// `npm test`: every test there is. `npm test -- --node`, `--browser`, `--e2e` or `--examples` runs only those; `--browsers chromium,firefox,webkit`
// names the browsers, which are all that can be had otherwise. End-to-end tests are driven in Chromium.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { engines, enginesNamed, ensureEngines } from './browsers/engines.mjs';
import { freePort } from './free-port.mjs';
import { ensureNode, ensurePackages, ensurePostgres, root, runMain, say } from './setup.mjs';

/** @typedef {{ passed: number; failed: number; skipped: number }} Tally */

const { values: chosen } = parseArgs({
  options: {
    node: { type: 'boolean' },
    browser: { type: 'boolean' },
    e2e: { type: 'boolean' },
    examples: { type: 'boolean' },
    browsers: { type: 'string' },
  },
});
const all = !chosen.node && !chosen.browser && !chosen.e2e && !chosen.examples;

/** @param {string} tool @param {string[]} args @param {Record<string, string>} env */
const run = (tool, args, env) =>
  spawnSync(process.execPath, [join(root, 'node_modules', tool), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  }).status === 0;

/** What passed only when it was run again. @type {string[]} */
const unsteady = [];

/** @param {string} path */
const report = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined);

/** A run that failed without a failed test (a crash, no report), or that ran none, still counts as one failure. @param {boolean} ok @param {Tally} tally @returns {Tally} */
const honest = (ok, tally) =>
  (ok && tally.passed > 0) || tally.failed > 0 ? tally : { ...tally, failed: 1 };

/** @param {string} project @param {string[]} files All when none is given. @param {string} folder @param {Record<string, string>} env */
function runVitestOnce(project, files, folder, env) {
  const file = join(folder, `${project}-${files.length}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const ok = run('vitest/vitest.mjs', ['run', '--project', project, ...reporters, ...files], env);
  /** @type {{ numPassedTests?: number; numFailedTests?: number; numPendingTests?: number; testResults?: { name: string; status: string }[] }} */
  const found = report(file) ?? {};
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, testResults = [] } = found;
  const tally = { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests };
  const failedFiles = testResults.filter(({ status }) => status === 'failed');
  return { ok, tally, failedFiles: failedFiles.map(({ name }) => relative(root, name)) };
}

/**
 * Tests in a real browser depend on its timing, which no seed fixes: up to two files that failed there are run once
 * more, alone. What passed only then is told in the last lines, for it is a defect of the test or of the code.
 *
 * @param {'node' | 'cluster' | 'browsers' | import('./browsers/kinds.mjs').Kind} project @param {string} folder @param {Record<string, string>} env
 */
function runVitest(project, folder, env) {
  say(`Running the tests in ${project} (vitest).`);
  const { ok, tally, failedFiles } = runVitestOnce(project, [], folder, env);
  const mayRunAgain = project !== 'node' && failedFiles.length > 0 && failedFiles.length <= 2;
  if (ok || !mayRunAgain) return honest(ok, tally);
  const names = failedFiles.join(' and ');
  say(`Running ${names} in ${project} again, alone.`);
  const again = runVitestOnce(project, failedFiles, folder, env);
  if (!again.ok) return honest(false, tally);
  unsteady.push(`${names} in ${project}`);
  return { ...tally, passed: tally.passed + tally.failed, failed: 0 };
}

/** @param {string} folder @param {Record<string, string>} env */
async function runEndToEnd(folder, env) {
  say('Running the end-to-end tests on the built demo (playwright).');
  const file = join(folder, 'e2e.json');
  const ok = run('@playwright/test/cli.js', ['test', '--retries=1', '--reporter=list,json'], {
    ...env,
    PLAYWRIGHT_JSON_OUTPUT_NAME: file,
    BURROW_E2E_PORT: String(await freePort()),
    BURROW_DEMO_OUT: join(folder, 'demo'),
  });
  const { expected = 0, unexpected = 0, flaky = 0, skipped = 0 } = report(file)?.stats ?? {};
  if (flaky > 0) unsteady.push(`${flaky} end-to-end tests, named above as flaky`);
  return honest(ok, { passed: expected + flaky, failed: unexpected, skipped });
}

/** @param {string} folder @param {Record<string, string>} env */
function runExamples(folder, env) {
  say('Running the examples: each is installed with the packed package, built and used.');
  const file = join(folder, 'examples.json');
  const args = ['test', '--config', 'e2e/examples/playwright.config.ts', '--reporter=list,json'];
  const ok = run('@playwright/test/cli.js', args, { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: file });
  const { expected = 0, unexpected = 0, flaky = 0, skipped = 0 } = report(file)?.stats ?? {};
  const tally = { passed: expected + flaky, failed: unexpected, skipped };
  return ok && skipped > 0 ? tally : honest(ok, tally);
}

const endToEndExists = () =>
  existsSync(join(root, 'e2e')) &&
  readdirSync(join(root, 'e2e')).some((name) => name.endsWith('.spec.ts'));

/** Which browsers there are, before anything runs: a name that nobody knows is told at once. */
function readyBrowsers() {
  if (chosen.browsers !== undefined) return ensureEngines(enginesNamed(chosen.browsers), true);
  if (all || chosen.browser) return ensureEngines(engines, false);
  return ensureEngines(chosen.e2e || chosen.examples ? ['chromium'] : [], false);
}

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const { kinds, chromium, notRun } = await readyBrowsers();
  const folder = mkdtempSync(join(tmpdir(), 'burrow-test-'));
  /** @type {Tally[]} */
  const tallies = [];
  try {
    if (all || chosen.node) {
      const programs = { BURROW_POSTGRES_BIN: ensurePostgres() };
      tallies.push(runVitest('node', folder, programs));
      // Alone: machines that do not get to answer in time would be given up.
      tallies.push(runVitest('cluster', folder, programs));
    }
    const env = { BURROW_CHROMIUM: chromium ?? '' };
    if (all || chosen.browser) {
      for (const kind of kinds) tallies.push(runVitest(kind, folder, env));
      // Driven from outside: restarts, kills, two tabs, quotas.
      tallies.push(runVitest('browsers', folder, { ...env, BURROW_BROWSERS: kinds.join(',') }));
    }
    if ((all || chosen.e2e) && chromium !== undefined && endToEndExists())
      tallies.push(await runEndToEnd(folder, env));
    if ((all || chosen.examples) && chromium !== undefined) {
      const examples = runExamples(folder, env);
      tallies.push(examples);
      if (examples.skipped > 0)
        notRun.push(`${examples.skipped} examples, because npm cannot reach its registry`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of tallies) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  if (total.passed + total.failed === 0) {
    say('No test ran.');
    total.failed = 1;
  }
  for (const names of unsteady) say(`Passed only when run again: ${names}.`);
  for (const sentence of notRun) say(`Not run: ${sentence}.`);
  const skippedToo = total.skipped === 0 ? '' : `, ${total.skipped} skipped`;
  console.log(`\n${total.passed} passed, ${total.failed} failed${skippedToo}`);
  if (total.failed > 0) process.exitCode = 1;
});
