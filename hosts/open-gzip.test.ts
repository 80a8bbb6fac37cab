import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readExportRequest } from '../src/logs/export-request.ts';
import {
  ANSWER,
  bytesOf,
  NOON,
  openLogKit,
  requestAt,
  ROOT_VIEWER,
} from '../src/logs/testing/log-kit.ts';
import { createMemoryStore } from '../src/store/memory.ts';
import type { Store } from '../src/store/port.ts';
import { openGzip } from './open-gzip.ts';

test('openGzip() makes one member that gunzip reads, the same for the same lines', () => {
  const text = Buffer.from('{"a":1}\n'.repeat(100_000));
  const make = (): Buffer => {
    const gzip = openGzip();
    const parts: Uint8Array[] = [];
    for (let at = 0; at < text.length; at += 65_536)
      parts.push(...gzip.push(text.subarray(at, at + 65_536)));
    parts.push(...gzip.finish());
    return Buffer.concat(parts);
  };
  const file = make();
  expect(gunzipSync(file).equals(text)).toBe(true);
  expect(file.equals(make())).toBe(true);
});

/** Counts what one fetch brings and one write carries. */
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

test('an export of 100,000 lines holds a few rows and one chunk at a time', async () => {
  const { store, most } = measured(createMemoryStore());
  const { log, exports } = openLogKit({ openGzip }, store);
  const count = 100_000;
  let spice = 1;
  for (let i = 0; i < count; i++) {
    // Numbers that gzip cannot fold away, so that the file has several chunks.
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
  const wish = readExportRequest(
    { time_start: '2024-05-01T00:00:00Z', time_end: '2024-05-02T00:00:00Z' },
    'local',
  );
  const { request_id: id } = await exports.request(wish, ROOT_VIEWER);
  await exports.work();
  expect(most.rows).toBeLessThanOrEqual(4);
  expect(most.characters).toBeLessThanOrEqual(4 * 256 * 1024);
  expect(most.chunk).toBe(1024 * 1024);
  const file = await exports.file(id, 0);
  expect(file?.bytes).toBeGreaterThan(1024 * 1024);
  const lines = gunzipSync(await bytesOf(file!.chunks))
    .toString()
    .trimEnd()
    .split('\n');
  expect(lines).toHaveLength(count);
  expect(
    new Set(lines.map((line) => (JSON.parse(line) as { REQUEST_ID: string }).REQUEST_ID)).size,
  ).toBe(count);
});
