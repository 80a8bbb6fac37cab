/** T11, T12: queries that grow end in a coded error, in a heap that has little room beyond what one query may take. */
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
 * Of Node, the engine and what is not collected yet. V8 gives up a heap that is over 80 % full when it spends most of its time
 * collecting, which a busy machine decides: what one query may take stays below that.
 */
const HEAP_AROUND_MIB = 48;
const HEAP_MIB = LIMITS.queryBytes / MIB + HEAP_AROUND_MIB;
/** 100,000 sets are open at once. */
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
])('$names.length queries that grow end in an error within $heapMib MiB', ({ names, heapMib }) => {
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
});
