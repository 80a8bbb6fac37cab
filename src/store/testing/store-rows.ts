/** Test kit: rows, ranges and calls for the test suites of stores. */
import { type Key, keyOfBytes } from '../../codec/key.ts';
import {
  HOT_SPACES,
  type Entry,
  type Range,
  type Row,
  type Space,
  type Store,
  type WriteSet,
} from '../port.ts';

/** Opens a store on the data with this name. With the same name again, it opens another store on the same data. */
export type OpenStore = (name: string) => Promise<Store>;
export type Fresh = () => Promise<Store>;

export const STRICT = { durability: 'strict' } as const;
export const RELAXED = { durability: 'relaxed' } as const;
export const COUNTER = { space: 'meta', key: key('counter') } as const;

export function increment(store: Store): Promise<void> {
  return store.write(async (tx) => {
    const count = Number((await tx.fetch([COUNTER], [])).rows[0]?.value ?? 0);
    tx.apply({
      puts: [{ space: 'meta', row: { key: COUNTER.key, entries: [], value: String(count + 1) } }],
      deletes: [],
    });
  }, RELAXED);
}

export const counterOf = (store: Store): Promise<number> =>
  store.read(async (tx) => Number((await tx.fetch([COUNTER], [])).rows[0]?.value));

export async function everything(
  store: Store,
): Promise<{ documents: Row[]; history: Row[]; entries: Entry[] }> {
  const { ranges } = await store.read((tx) =>
    tx.fetch([], [rangeOf({}), rangeOf({ space: 'history' }), rangeOf({ by: 'entry' })]),
  );
  const rowsOf = (found: readonly Entry[] = []): Row[] => found.flatMap((each) => each.row ?? []);
  return {
    documents: rowsOf(ranges[0]),
    history: rowsOf(ranges[1]),
    entries: [...(ranges[2] ?? [])],
  };
}

export async function inRange(store: Store, range: Partial<Range>): Promise<readonly Entry[]> {
  const asked = rangeOf(range);
  const options = { spaces: [asked.space] };
  return (await store.read((tx) => tx.fetch([], [asked]), options)).ranges[0] ?? [];
}

export const write = (
  store: Store,
  writes: WriteSet,
  spaces: readonly Space[] = HOT_SPACES,
): Promise<void> => store.write(async (tx) => tx.apply(writes), { ...RELAXED, spaces });

export const put = (store: Store, space: Space, rows: readonly Row[]): Promise<void> =>
  write(store, { puts: rows.map((each) => ({ space, row: each })), deletes: [] }, [space]);

export const rangeOf = (range: Partial<Range>): Range => ({
  space: 'documents',
  by: 'key',
  lower: key(''),
  upper: key('\xff\xff\xff\xff'),
  reverse: false,
  limit: 1000,
  rows: true,
  ...range,
});

export const row = (name: string, entries: readonly string[] = []): Row => ({
  key: key(name),
  entries: entries.map(key),
  value: name,
});
export const at = (name: string): { space: Space; key: Key } => ({
  space: 'documents',
  key: key(name),
});
export const keysOf = (entries: readonly Entry[]): Key[] => entries.map((each) => each.key);
export const entriesOf = (entries: readonly Entry[]): Key[] => entries.map((each) => each.entry);
export const sequence = (length: number): number[] => Array.from({ length }, (_, i) => i);
export const fixed = (i: number): string => String(i).padStart(6, '0');
export const order = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0);
export const shuffled = (keys: readonly string[]): string[] =>
  keys.map((_, i) => keys[(i * 7) % keys.length] ?? '');

export function fail(): never {
  throw new Error('no store');
}

/** A key of arbitrary bytes: stores accept any, not only encoded values. */
export function key(bytes: string): Key {
  return keyOfBytes(bytes);
}
