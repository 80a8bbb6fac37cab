import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readExportRequest } from './export-request.ts';
import type { ExportFile, LogExports } from './exports.ts';
import { ANSWER, bytesOf, NOON, openLogKit, requestAt, ROOT_VIEWER } from './testing/log-kit.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Store } from '../store/port.ts';

/** The file of a finished export of all records. */
async function exportedFile(exports: LogExports): Promise<ExportFile> {
  const wish = readExportRequest(
    { time_start: '2024-05-01T00:00:00Z', time_end: '2024-05-02T00:00:00Z' },
    'local',
  );
  const { request_id: id } = await exports.request(wish, ROOT_VIEWER);
  await exports.work();
  return (await exports.file(id, 0))!;
}

test('exports of the same lines are identical gzip files', async () => {
  const make = async (): Promise<Uint8Array> => {
    const kit = openLogKit();
    for (let i = 0; i < 2000; i++) kit.log.add(requestAt(NOON + i), ANSWER);
    return bytesOf((await exportedFile(kit.exports)).chunks);
  };
  const file = await make();
  expect(gunzipSync(file).toString().trimEnd().split('\n')).toHaveLength(2000);
  expect(await make()).toEqual(file);
});

/** Measures the largest fetch and the largest write of a store. */
function measured(base: Store): {
  readonly store: Store;
  readonly most: { rows: number; characters: number; chunk: number };
} {
  const most = { rows: 0, characters: 0, chunk: 0 };
  const store: Store = {
    ...base,
    read: (body) =>
      base.read((tx) =>
        body({
          async fetch(rows, ranges) {
            const found = await tx.fetch(rows, ranges);
            const logRows = found.ranges.flat().filter(({ row }) => typeof row?.value === 'string');
            most.rows = Math.max(most.rows, logRows.length);
            const characters = logRows.reduce((sum, { row }) => sum + (row?.value.length ?? 0), 0);
            most.characters = Math.max(most.characters, characters);
            return found;
          },
        }),
      ),
    write: (body, options) =>
      base.write(
        (tx) =>
          body({
            ...tx,
            apply(writes) {
              for (const { row } of writes.puts)
                if (row.value instanceof Uint8Array)
                  most.chunk = Math.max(most.chunk, row.value.length);
              tx.apply(writes);
            },
          }),
        options,
      ),
  };
  return { store, most };
}

test('an export of 100,000 lines keeps only a few rows and one chunk in memory', async () => {
  const { store, most } = measured(createMemoryStore());
  const { log, exports } = openLogKit({}, store);
  const count = 100_000;
  let spice = 1;
  for (let i = 0; i < count; i++) {
    // Pseudo-random numbers, which gzip cannot compress much, so that the file has several chunks.
    spice = (spice * 48_271) % 2_147_483_647;
    log.add(
      requestAt(NOON + i * 1000, { query: `{"add":[${spice},${(spice * 31) % 1_000_003}]}` }),
      ANSWER,
    );
    if (i % 1000 === 999) await log.flush();
  }
  await log.flush();
  expect(log.counts).toEqual({ recorded: count, lost: 0 });
  most.rows = 0;
  most.characters = 0;
  const file = await exportedFile(exports);
  expect(most.rows).toBeLessThanOrEqual(4);
  expect(most.characters).toBeLessThanOrEqual(4 * 256 * 1024);
  expect(most.chunk).toBe(1024 * 1024);
  expect(file.bytes).toBeGreaterThan(1024 * 1024);
  const lines = gunzipSync(await bytesOf(file.chunks))
    .toString()
    .trimEnd()
    .split('\n');
  expect(lines).toHaveLength(count);
  expect(
    new Set(lines.map((line) => (JSON.parse(line) as { REQUEST_ID: string }).REQUEST_ID)).size,
  ).toBe(count);
});
