// `npm run check`: runs all checks except the tests. `npm run check -- types lint` runs only those steps.
import { ensureNode, ensurePackages, runMain, say } from './setup.mjs';
import { inLanes, run, secondsSince } from './side-by-side.mjs';

/** @typedef {readonly [name: string, script: string]} Step */

/**
 * The phases run one after the other, the lanes of a phase in parallel. A step may use results of an earlier phase, but nothing that a step
 * in another lane of its phase changes.
 * @type {readonly (readonly (readonly Step[])[])[]}
 */
const phases = [
  [
    [['types', 'types']],
    [
      ['lint', 'lint'],
      ['format', 'format:check'],
      ['imports', 'imports'],
      ['dead code', 'dead-code'],
    ],
  ],
  [[['build', 'build']]],
  [
    [
      ['size', 'size'],
      ['package', 'package'],
    ],
    [
      ['site', 'site'],
      ['audit', 'audit'],
    ],
  ],
];

/** @param {Step} step @returns {Promise<string>} the step's line of the summary */
async function check([name, script]) {
  const startedMs = performance.now();
  const { ok, printed } = await run('npm', ['run', '--silent', script]);
  const seconds = secondsSince(startedMs);
  say(`Check: ${name} (npm run ${script}), ${seconds} s`);
  process.stdout.write(printed);
  if (!ok) process.exitCode = 1;
  return `${ok ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`;
}

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const wanted = process.argv.slice(2);
  const isWanted = (/** @type {Step} */ step) =>
    wanted.length === 0 || step.some((word) => wanted.includes(word));
  /** @type {string[]} */
  const outcomes = [];
  for (const phase of phases) {
    const ofLanes = await inLanes(phase, phase.length, (lane) =>
      inLanes(lane.filter(isWanted), 1, check),
    );
    outcomes.push(...ofLanes.flat());
  }
  console.log(`\n${outcomes.join('\n')}`);
});
