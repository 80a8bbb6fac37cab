/** Measures the duration and peak memory of one export of the query log. */
import { createGunzip } from 'node:zlib';
import { readExportRequest } from '../src/logs/export-request.ts';
import { LogExports } from '../src/logs/exports.ts';
import { QueryLog } from '../src/logs/query-log.ts';
import type { Store } from '../src/store/port.ts';

const MIB = 1024 * 1024;
const START = Date.UTC(2024, 4, 1) * 1000;

/** Fills the log of a store, exports it, reads the file, and prints the results. The process fails if a line is missing. */
export async function measureExport(store: Store, count: number): Promise<void> {
  let peak = 0;
  const host = {
    store,
    clock: () => START,
    random: (bytes: number) => new Uint8Array(bytes).fill(7),
    pause: async () => {
      peak = Math.max(peak, memory());
      await new Promise((resolve) => setImmediate(resolve));
    },
    regionGroup: 'local',
  };
  const log = new QueryLog({ ...host, retentionDays: 9999, maxBytes: Number.MAX_SAFE_INTEGER });
  const filling = performance.now();
  await fill(log, count);
  const fillSeconds = (performance.now() - filling) / 1000;
  console.log(`${count} lines stored in ${fillSeconds.toFixed(1)} s, lost: ${log.counts.lost}`);
  const deadlineMs = Number.MAX_SAFE_INTEGER / 1e6;
  const exports = new LogExports({ ...host, log, deadlineMs });
  const times = { time_start: '2024-05-01T00:00:00Z', time_end: '2024-06-01T00:00:00Z' };
  globalThis.gc?.();
  const before = memory();
  peak = 0;
  const begun = performance.now();
  const viewer = { database: [], since: 0, makeUrl: () => '' };
  const { request_id: id } = await exports.request(readExportRequest(times, 'local'), viewer);
  await exports.work();
  const seconds = (performance.now() - begun) / 1000;
  const file = await exports.file(id, 0);
  if (!file) throw new Error(`The export ended in ${(await exports.status(id, viewer)).state}.`);
  const lines = await countLines(file.chunks);
  console.log(
    `${lines} lines exported in ${seconds.toFixed(1)} s to ${(file.bytes / MIB).toFixed(1)} MiB; memory ${before.toFixed(0)} MiB before, ${peak.toFixed(0)} MiB at most`,
  );
  if (lines !== count) process.exitCode = 1;
}

const memory = (): number => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / MIB;
};

async function fill(log: QueryLog, count: number): Promise<void> {
  let dice = 1;
  for (let i = 0; i < count; i++) {
    dice = (dice * 48_271) % 2_147_483_647;
    const span = dice.toString(16);
    log.add(
      {
        ts: START + i * 1000,
        method: 'POST',
        path: '/',
        query: `{"get":{"ref":{"collection":"notes"},"id":"${dice}"}}`,
        apiVersion: '4',
        traceparent: `00-${span.padStart(32, 'a')}-${span.padStart(16, 'b')}-00`,
      },
      {
        status: 200,
        database: ['field-notes'],
        metrics: {
          bytesIn: 58,
          bytesOut: 300 + (dice % 100),
          computeOps: 1,
          readOps: 1,
          writeOps: 0,
          readBytes: 260,
          writeBytes: 0,
          queryTime: dice % 7,
          retries: 0,
        },
        credential: { kind: 'token', id: String(dice) },
      },
    );
    if (i % 512 === 511) await log.flush();
  }
  await log.flush();
}

async function countLines(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const gunzip = createGunzip();
  const counting = (async () => {
    let lines = 0;
    for await (const part of gunzip as AsyncIterable<Buffer>)
      for (const byte of part) if (byte === 10) lines += 1;
    return lines;
  })();
  for await (const chunk of chunks)
    if (!gunzip.write(chunk)) await new Promise((resolve) => gunzip.once('drain', resolve));
  gunzip.end();
  return counting;
}
