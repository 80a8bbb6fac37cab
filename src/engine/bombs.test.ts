/** T11, T12: queries whose values grow end with a coded error, in a heap with little room beyond what one query may use. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { BOMBS } from './testing/bomb-queries.ts';
import type { Explosion } from './testing/bombs.ts';

const MIB = 1024 * 1024;
/**
 * Heap for Node, the engine and uncollected garbage. V8 aborts when the heap is over 80 % full and it spends most of its time collecting
 * garbage. Both depend on the load of the machine, so the memory of one query must stay below that.
 */
const HEAP_AROUND_MIB = 48;
const HEAP_MIB = LIMITS.queryBytes / MIB + HEAP_AROUND_MIB;
/** This query opens 100,000 sets at once. */
const OPEN_SETS = 'a set of sets, read';
const OPEN_SETS_HEAP_MIB = 160;
const SLOWEST_MS = 30_000;

const folder = mkdtempSync(join(tmpdir(), 'burrow-bombs-'));
const program = join(folder, 'bombs.mjs');

beforeAll(async () => {
  const bundle = await rolldown({
    input: new URL('testing/bombs.ts', import.meta.url).pathname,
    platform: 'node',
  });
  await bundle.write({ file: program, format: 'esm' });
});
afterAll(() => rmSync(folder, { recursive: true }));

function letGoOff(names: readonly string[], heapMib: number): readonly Explosion[] {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [`--max-old-space-size=${heapMib}`, program, ...names],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Explosion);
}

test.each([
  { names: Object.keys(BOMBS).filter((name) => name !== OPEN_SETS), heapMib: HEAP_MIB },
  { names: [OPEN_SETS], heapMib: OPEN_SETS_HEAP_MIB },
])(
  '$names.length queries whose values keep growing end in an error within a heap of $heapMib MiB',
  ({ names, heapMib }) => {
    const explosions = letGoOff(names, heapMib);
    expect(explosions.map(({ name }) => name)).toEqual(names);
    for (const explosion of explosions) {
      expect(explosion).toMatchObject({
        answer: {
          refused: expect.stringMatching(
            /^(limit_exceeded|bad request|invalid argument|stack overflow)/,
          ),
        },
        alive: { resource: 2 },
      });
      expect(explosion.tookMs, explosion.name).toBeLessThan(SLOWEST_MS);
    }
  },
);
