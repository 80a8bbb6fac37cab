/** One export of the query log, over a store on disk: how long it takes and how much memory it holds. Run by log-export.mjs. */
import {
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import type { Key } from '../src/codec/key.ts';
import { readWish } from '../src/logs/export-request.ts';
import { LogExports } from '../src/logs/exports.ts';
import { QueryLog } from '../src/logs/query-log.ts';
import type { Entry, Range, ReadTx, Row, Space, Store } from '../src/store/port.ts';
import { openGzip } from '../hosts/open-gzip.ts';

/** Log rows stand in one file, chunks in files of their own: only keys are in memory. */
function openDiskStore(folder: string): Store {
  const log = openSync(join(folder, 'log'), 'w+');
  let logBytes = 0;
  const logRows: { key: Key; at: number; length: number }[] = [];
  const others = new Map<string, string | null>();
  const nameOf = (space: Space, key: Key): string =>
    `${space}-${Buffer.from(key, 'latin1').toString('hex')}`;
  const row = (space: Space, key: Key): Row | undefined => {
    const name = nameOf(space, key);
    const text = others.get(name);
    if (text === undefined) return undefined;
    const value = text ?? new Uint8Array(readFileSync(join(folder, name)));
    return { key, entries: [], value };
  };
  const entries = ({ space, lower, upper, limit, rows }: Range): Entry[] => {
    if (space !== 'log') {
      const keys = [...others.keys()]
        .filter((name) => name.startsWith(`${space}-`))
        .map((name) => Buffer.from(name.slice(space.length + 1), 'hex').toString('latin1') as Key)
        .filter((key) => key >= lower && key < upper);
      return keys
        .sort()
        .slice(0, limit)
        .map((key) => ({ entry: key, key, row: rows ? row(space, key) : undefined }));
    }
    return logRows
      .filter(({ key }) => key >= lower && key < upper)
      .slice(0, limit)
      .map(({ key, at, length }) => {
        const bytes = Buffer.alloc(length);
        readSync(log, bytes, 0, length, at);
        return { entry: key, key, row: { key, entries: [], value: bytes.toString() } };
      });
  };
  const tx: ReadTx = {
    fetch: async (addresses, ranges) => ({
      rows: addresses.map(({ space, key }) => row(space, key)),
      ranges: ranges.map(entries),
    }),
  };
  return {
    read: (body) => body(tx),
    write: (body) =>
      body({
        ...tx,
        apply({ puts, deletes }) {
          for (const {
            space,
            row: { key, value },
          } of puts) {
            if (space === 'log' && typeof value === 'string') {
              const bytes = Buffer.from(value);
              writeSync(log, bytes);
              logRows.push({ key, at: logBytes, length: bytes.length });
              logBytes += bytes.length;
            } else if (typeof value === 'string') others.set(nameOf(space, key), value);
            else {
              writeFileSync(join(folder, nameOf(space, key)), value);
              others.set(nameOf(space, key), null);
            }
          }
          for (const { space, key } of deletes) others.delete(nameOf(space, key));
        },
      }),
    close: () => Promise.resolve(),
  };
}

const MIB = 1024 * 1024;
const memory = (): number => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / MIB;
};

const START = Date.UTC(2024, 4, 1) * 1000;

async function fill(log: QueryLog, count: number): Promise<void> {
  let dice = 1;
  for (let i = 0; i < count; i++) {
    dice = (dice * 48_271) % 2_147_483_647;
    log.add(
      {
        ts: START + i * 1000,
        method: 'POST',
        path: '/',
        query: `{"get":{"ref":{"collection":"notes"},"id":"${dice}"}}`,
        apiVersion: '4',
        traceparent: `00-${dice.toString(16).padStart(32, 'a')}-${dice.toString(16).padStart(16, 'b')}-00`,
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
  const counted = (async () => {
    let lines = 0;
    for await (const part of gunzip as AsyncIterable<Buffer>)
      for (const byte of part) if (byte === 10) lines += 1;
    return lines;
  })();
  for await (const chunk of chunks)
    if (!gunzip.write(chunk)) await new Promise((resolve) => gunzip.once('drain', resolve));
  gunzip.end();
  return counted;
}

const count = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), 'burrow-log-export-'));
try {
  const store = openDiskStore(folder);
  let peak = 0;
  const shared = {
    store,
    clock: () => START,
    random: (bytes: number) => new Uint8Array(bytes).fill(7),
    pause: async () => {
      peak = Math.max(peak, memory());
      await new Promise((resolve) => setImmediate(resolve));
    },
    regionGroup: 'local',
  };
  const log = new QueryLog({ ...shared, retentionDays: 9999, maxBytes: Number.MAX_SAFE_INTEGER });
  const filled = performance.now();
  await fill(log, count);
  console.log(
    `${count} records logged in ${((performance.now() - filled) / 1000).toFixed(1)} s, lost: ${log.counts.lost}`,
  );
  const exports = new LogExports({
    ...shared,
    log,
    openGzip,
    deadlineMs: Number.MAX_SAFE_INTEGER / 1e6,
  });
  const wish = readWish(
    { time_start: '2024-05-01T00:00:00Z', time_end: '2024-06-01T00:00:00Z' },
    'local',
  );
  globalThis.gc?.();
  const before = memory();
  peak = 0;
  const started = performance.now();
  const viewer = { database: [], makeUrl: () => '' };
  const { request_id: id } = await exports.request(wish, viewer);
  await exports.work();
  const seconds = (performance.now() - started) / 1000;
  const file = await exports.file(id, 0);
  if (!file) throw new Error(`The export ended in ${(await exports.status(id, viewer)).state}.`);
  const lines = await countLines(file.chunks);
  console.log(
    `${lines} lines exported in ${seconds.toFixed(1)} s to ${(file.bytes / MIB).toFixed(1)} MiB; memory ${before.toFixed(0)} MiB before, ${peak.toFixed(0)} MiB at most`,
  );
  if (lines !== count) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
