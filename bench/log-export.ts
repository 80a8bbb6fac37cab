/** One export of the query log over a store on disk. Run by log-export.mjs. */
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
import { keyOfHex, type Key } from '../src/codec/key.ts';
import type { Entry, Range, ReadTx, Row, Space, Store } from '../src/store/port.ts';
import { measureExport } from './measure-export.ts';

/** Log rows are in one file, chunks in files of their own. Only keys are in memory. */
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
        .map((name) => keyOfHex(name.slice(space.length + 1)))
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

const folder = mkdtempSync(join(tmpdir(), 'burrow-log-export-'));
try {
  await measureExport(openDiskStore(folder), Number(process.argv[2] ?? 1_000_000));
} finally {
  rmSync(folder, { recursive: true });
}
