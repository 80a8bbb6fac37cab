/**
 * T12: what a query fetches is bounded, however large documents are. In a heap that is too small for all documents, the query succeeds or
 * is refused.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import type { LargeRead } from './testing/large-reads.ts';

const MIB = 1024 * 1024;
/** Heap for the reads of one query, cached rows and ranges, prefetched rows, Node and the engine. */
const HEAP_MIB = (LIMITS.readBytes + 2 * LIMITS.cacheBytes + 3 * LIMITS.fetchBytes) / MIB + 64;

const folder = mkdtempSync(join(tmpdir(), 'burrow-large-'));
const program = join(folder, 'large-reads.mjs');

beforeAll(async () => {
  const bundle = await rolldown({
    input: new URL('testing/large-reads.ts', import.meta.url).pathname,
    platform: 'node',
  });
  await bundle.write({ file: program, format: 'esm' });
});
afterAll(() => rmSync(folder, { recursive: true }));

test(`queries over 600 MB of documents succeed or are refused within a heap of ${HEAP_MIB} MiB`, () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [`--max-old-space-size=${HEAP_MIB}`, program],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  const reads = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LargeRead);
  for (const { name, alive } of reads) expect(alive, name).toEqual({ resource: 2 });
  expect(Object.fromEntries(reads.map(({ name, answer }) => [name, answer]))).toEqual({
    'a page of refs': { resource: 600 },
    'all are counted': { resource: 600 },
    'a hundred of them': { resource: 100 },
    'one after the other': { resource: Array.from({ length: 100 }, () => 0) },
    'ended by the first': { refused: expect.stringMatching(/^transaction aborted/) },
    'all of them': { refused: 'limit_exceeded' },
    'all of them, in a write': { refused: 'limit_exceeded' },
    'all as they were': { resource: 600 },
    'all that happened': { refused: 'limit_exceeded' },
  });
});
