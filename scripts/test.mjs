// `npm test`: runs all tests. `npm test -- --node`, `--browser`, `--e2e` or `--examples` selects some; `--browsers chromium,firefox,webkit`
// selects the browsers, by default all that are installed or can be installed. End-to-end tests run in Chromium.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engines, enginesNamed, ensureEngines } from './browsers/engines.mjs';
import { runStage, settle, totalOf } from './run-stages.mjs';
import {
  commandOptions,
  ensureNode,
  ensurePackages,
  ensurePostgres,
  root,
  runMain,
  say,
} from './setup.mjs';
import { inLanes } from './side-by-side.mjs';
import { endToEndStage, examplesStage, vitestStage } from './test-stages.mjs';

const chosen = commandOptions({
  node: { type: 'boolean' },
  browser: { type: 'boolean' },
  e2e: { type: 'boolean' },
  examples: { type: 'boolean' },
  browsers: { type: 'string' },
});
const all = !chosen.node && !chosen.browser && !chosen.e2e && !chosen.examples;

const endToEndExists = () =>
  existsSync(join(root, 'e2e')) &&
  readdirSync(join(root, 'e2e')).some((name) => name.endsWith('.spec.ts'));

/** Finds or installs the browsers before any test runs, so that an unknown name is reported at once. */
function readyBrowsers() {
  if (chosen.browsers !== undefined) return ensureEngines(enginesNamed(chosen.browsers), true);
  if (all || chosen.browser) return ensureEngines(engines, false);
  return ensureEngines(chosen.e2e || chosen.examples ? ['chromium'] : [], false);
}

/** @param {string} folder */
function nodeStages(folder) {
  if (!all && !chosen.node) return [];
  const programs = { BURROW_POSTGRES_BIN: ensurePostgres() };
  const projects = /** @type {const} */ (['node', 'programs', 'cluster']);
  return projects.map((project) => vitestStage(project, folder, programs));
}

/**
 * These run after the cluster's tests, which add and remove network interfaces: Chromium aborts requests when an interface changes.
 * @param {string} folder @param {import('./browsers/engines.mjs').ReadyBrowsers} ready
 */
function browserStages(folder, { kinds, chromium }) {
  const env = { BURROW_CHROMIUM: chromium ?? '' };
  const hasChromium = chromium !== undefined;
  const stages = [];
  if (all || chosen.browser) {
    for (const kind of kinds) stages.push(vitestStage(kind, folder, env));
    // These tests drive browsers from outside: restarts, kills, two tabs, quotas.
    stages.push(vitestStage('browsers', folder, { ...env, BURROW_BROWSERS: kinds.join(',') }));
  }
  if ((all || chosen.e2e) && hasChromium && endToEndExists())
    stages.push(endToEndStage(folder, env));
  if ((all || chosen.examples) && hasChromium) stages.push(examplesStage(folder, env));
  return stages;
}

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const ready = await readyBrowsers();
  const folder = mkdtempSync(join(tmpdir(), 'burrow-test-'));
  const notRun = [...ready.notRun];
  /** @type {readonly import('./run-stages.mjs').Settled[]} */
  let settled;
  try {
    // One stage at a time: each uses all cores, so two in parallel are no faster, and tests would exceed their time limits.
    const stages = [...nodeStages(folder), ...browserStages(folder, ready)];
    const outcomes = await inLanes(stages, 1, runStage);
    for (const { stage, tally } of outcomes)
      if (stage.mayBeSkipped && tally.skipped > 0)
        notRun.push(`${tally.skipped} examples, because npm cannot reach its registry`);
    settled = await inLanes(outcomes, 1, settle);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const total = totalOf(settled.map(({ tally }) => tally));
  for (const names of settled.flatMap(({ unsteady }) => unsteady))
    say(`Passed only when run again: ${names}.`);
  for (const sentence of notRun) say(`Not run: ${sentence}.`);
  const skippedToo = total.skipped === 0 ? '' : `, ${total.skipped} skipped`;
  console.log(`\n${total.passed} passed, ${total.failed} failed${skippedToo}`);
  if (total.failed > 0) process.exitCode = 1;
});
