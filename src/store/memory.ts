/**
 * A store in memory: for tests, and for whoever needs a database that is gone with the process. Each commit makes new sorted
 * arrays of what it touched, so a reader keeps the snapshot it began with.
 */
import type { Key } from '../codec/key.ts';
import { SPACES, type Entry, type Range, type ReadTx, type Row, type Space, type Store, type WriteSet } from './port.ts';

interface SpaceState {
  readonly rows: ReadonlyMap<Key, Row>;
  /** Sorted by primary key. */
  readonly keys: readonly Entry[];
  /** Sorted by entry. */
  readonly entries: readonly Entry[];
}
type State = Readonly<Record<Space, SpaceState>>;

export function createMemoryStore(): Store {
  let state: State = Object.fromEntries(SPACES.map((space) => [space, EMPTY])) as State;
  let lastWrite: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const requireOpen = () => {
    if (isClosed) throw new Error('This in-memory store is closed: make a new one.');
  };
  return {
    async read(body) {
      requireOpen();
      return body(readerOf(state));
    },
    write(body) {
      const result = lastWrite.then(async () => {
        requireOpen();
        const base = state;
        const applied: WriteSet[] = [];
        const value = await body({ ...readerOf(base), apply: (writes) => void applied.push(writes) });
        state = applied.reduce(withWrites, base);
        return value;
      });
      lastWrite = result.catch(() => undefined);
      return result;
    },
    async close() {
      await lastWrite;
      isClosed = true;
    },
  };
}

const EMPTY: SpaceState = { rows: new Map(), keys: [], entries: [] };

function readerOf(state: State): ReadTx {
  return {
    fetch: async (addresses, ranges) => ({
      rows: addresses.map(({ space, key }) => state[space].rows.get(key)),
      ranges: ranges.map((range) => rangeOf(state[range.space], range)),
    }),
  };
}

function rangeOf(space: SpaceState, { by, lower, upper, reverse, limit, rows }: Range): Entry[] {
  const list = by === 'entry' ? space.entries : space.keys;
  const from = firstAtOrAfter(list, lower);
  const to = Math.max(from, firstAtOrAfter(list, upper));
  const found = reverse
    ? list.slice(Math.max(from, to - limit), to).reverse()
    : list.slice(from, Math.min(to, from + limit));
  return rows ? found : found.map(({ entry, key }) => ({ entry, key, row: undefined }));
}

function withWrites(state: State, { puts, deletes }: WriteSet): State {
  const next: Record<Space, SpaceState> = { ...state };
  for (const space of SPACES) {
    const mine = puts.filter((put) => put.space === space).map((put) => put.row);
    const gone = deletes.filter((each) => each.space === space).map((each) => each.key);
    if (mine.length + gone.length > 0) next[space] = withChanges(state[space], mine, gone);
  }
  return next;
}

function withChanges(state: SpaceState, puts: readonly Row[], deletes: readonly Key[]): SpaceState {
  const replaced = new Set([...deletes, ...puts.map((row) => row.key)]);
  const rows = new Map(state.rows);
  for (const key of deletes) rows.delete(key);
  for (const row of puts) rows.set(row.key, row);
  const kept = (list: readonly Entry[]) => list.filter((each) => !replaced.has(each.key));
  const keys = puts.map((row) => ({ entry: row.key, key: row.key, row }));
  const entries = puts.flatMap((row) => row.entries.map((entry) => ({ entry, key: row.key, row })));
  return { rows, keys: merged(kept(state.keys), keys), entries: merged(kept(state.entries), entries) };
}

/** `more` is unsorted and usually short. */
function merged(sorted: readonly Entry[], more: Entry[]): Entry[] {
  more.sort((a, b) => (a.entry < b.entry ? -1 : a.entry > b.entry ? 1 : a.key < b.key ? -1 : 1));
  const result: Entry[] = [];
  let at = 0;
  for (const entry of more) {
    for (let next = sorted[at]; next && next.entry < entry.entry; next = sorted[++at]) result.push(next);
    result.push(entry);
  }
  for (; at < sorted.length; at++) {
    const next = sorted[at];
    if (next) result.push(next);
  }
  return result;
}

function firstAtOrAfter(list: readonly Entry[], key: Key): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const each = list[middle];
    if (each && each.entry < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
