/**
 * A store in memory, for tests and for databases that last as long as the process. Each commit makes a new version that shares the
 * unchanged chunks with the previous one, so a reader keeps its snapshot.
 */
import type { Key } from '../codec/key.ts';
import { assert, Refusal } from '../errors.ts';
import {
  KeyTaken,
  SPACES,
  entryBytes,
  requireWithin,
  rowBytes,
  type Entry,
  type Found,
  type Range,
  type ReadTx,
  type Row,
  type RowAddress,
  type Space,
  type Store,
  type WriteSet,
} from './port.ts';
import { SortedEntries } from './sorted-entries.ts';
import { SerialQueue } from './serial-queue.ts';

interface SpaceVersion {
  readonly keys: SortedEntries;
  readonly entries: SortedEntries;
}
type Version = Readonly<Record<Space, SpaceVersion>>;

/** Data that several memory stores may share, as tabs share a database. */
export class SharedMemory {
  version = recordOf(() => ({ keys: SortedEntries.empty(), entries: SortedEntries.empty() }));
  readonly writes = new SerialQueue();
}

export function createMemoryStore(memory: SharedMemory = new SharedMemory()): Store {
  let isClosed = false;
  const requireOpen = (): void => {
    if (isClosed) throw new Refusal('storage_unavailable', 'The store is closed. Open it again.');
  };
  return {
    async read(body, options = {}) {
      requireOpen();
      return body(readerOf(memory.version, options.spaces ?? SPACES));
    },
    write(body, { spaces = SPACES }) {
      return memory.writes.run(async () => {
        requireOpen();
        const before = memory.version;
        const applied: WriteSet[] = [];
        let isOver = false;
        const apply = (writes: WriteSet): void => {
          assert(!isOver, () => 'a write transaction applies nothing after its body has ended');
          for (const { space } of [...writes.puts, ...writes.deletes]) requireWithin(spaces, space);
          for (const { space, row, isNew } of writes.puts) {
            if (isNew && before[space].keys.get(row.key, row.key)) throw new KeyTaken();
          }
          applied.push(writes);
        };
        try {
          const value = await body({ ...readerOf(before, spaces), apply });
          memory.version = applied.reduce(versionWith, before);
          return value;
        } finally {
          isOver = true;
        }
      });
    },
    async close() {
      await memory.writes.whenIdle();
      isClosed = true;
    },
  };
}

function readerOf(version: Version, spaces: readonly Space[]): ReadTx {
  const rowAt = ({ space, key }: RowAddress): Row | undefined => {
    requireWithin(spaces, space);
    return version[space].keys.get(key, key)?.row;
  };
  const entriesIn = (range: Range): readonly Entry[] => {
    requireWithin(spaces, range.space);
    const found = version[range.space][range.by === 'entry' ? 'entries' : 'keys'].within(range);
    return range.rows ? found : found.map(({ entry, key }) => ({ entry, key, row: undefined }));
  };
  return {
    fetch: async (rows, ranges, bytesMax = Infinity) =>
      bounded(rows.map(rowAt), ranges.map(entriesIn), bytesMax),
  };
}

/** Truncates rows and entries at the limit in bytes, although all of them are in memory, so that this store behaves like the others. */
function bounded(
  rows: readonly (Row | undefined)[],
  ranges: readonly (readonly Entry[])[],
  bytesMax: number,
): Found {
  let bytes = 0;
  const end = rows.findIndex((row) => {
    if (bytes >= bytesMax) return true;
    bytes += row ? rowBytes(row) : 0;
    return false;
  });
  let rangeBytes = 0;
  const cutRanges = new Set<number>();
  const found = ranges.map((entries, i) => {
    const stop = entries.findIndex((entry) => {
      if (rangeBytes >= bytesMax) return true;
      rangeBytes += entryBytes(entry);
      return false;
    });
    if (stop < 0) return entries;
    cutRanges.add(i);
    return entries.slice(0, stop);
  });
  if (end < 0 && cutRanges.size === 0) return { rows, ranges };
  const truncation = { rows: end < 0 ? rows.length : end, ranges: cutRanges };
  return { rows: rows.slice(0, truncation.rows), ranges: found, truncation };
}

function versionWith(before: Version, { puts, deletes }: WriteSet): Version {
  const next: Record<Space, SpaceVersion> = { ...before };
  const changing = (space: Space): SpaceVersion => {
    if (next[space] === before[space]) {
      const { keys, entries } = before[space];
      next[space] = { keys: keys.fork(), entries: entries.fork() };
    }
    return next[space];
  };
  for (const { space, key } of deletes) remove(changing(space), key);
  for (const { space, row } of puts) {
    const { keys, entries } = changing(space);
    remove({ keys, entries }, row.key);
    keys.put({ entry: row.key, key: row.key, row });
    for (const entry of row.entries) entries.put({ entry, key: row.key, row });
  }
  return next;
}

function remove({ keys, entries }: SpaceVersion, key: Key): void {
  const row = keys.get(key, key)?.row;
  if (!row) return;
  keys.delete(key, key);
  for (const entry of row.entries) entries.delete(entry, key);
}

function recordOf(make: () => SpaceVersion): Version {
  return {
    documents: make(),
    history: make(),
    sync: make(),
    meta: make(),
    log: make(),
    files: make(),
  };
}
