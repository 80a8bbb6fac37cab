/** What every store must do, whatever it stands on. Call `describeStore` from a test file of the host. */
import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Key } from '../codec/key.ts';
import { FaultStore } from './fault-store.ts';
import type { Entry, Range, Row, Space, Store, WriteSet } from './port.ts';

/** Opens a store on the data of that name: the same name again is another store on the same data. */
export type OpenStore = (name: string) => Promise<Store>;

export function describeStore(name: string, open: OpenStore): void {
  describe(`${name} as a store`, () => {
    const opened: Store[] = [];
    let databases = 0;
    const another = async (database: string): Promise<Store> => {
      const store = await open(database);
      opened.push(store);
      return store;
    };
    const fresh = async (): Promise<Store> => another(freshName());
    const freshName = (): string => `contract-${Date.now().toString(36)}-${(databases += 1)}`;
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });

    ordersKeys(fresh);
    readsRanges(fresh);
    keepsEntries(fresh);
    isolates(fresh);
    isAtomic(fresh);
    takesLargeThings(fresh);
    worksBesideOthers(another, freshName);
    behavesLikeAModel(fresh);
  });
}

type Fresh = () => Promise<Store>;

function ordersKeys(fresh: Fresh): void {
  test('fetch() returns keys in the order of their bytes', async () => {
    const store = await fresh();
    const keys = [
      '\0',
      '\0\0',
      '\0\x01',
      '\x01',
      'A',
      'a',
      'a\0',
      'a\0\x01',
      'a\x01',
      'aa',
      'b',
      '\x7f',
      '\x80',
      '\xff',
      '\xff\0',
      '\xff\xff',
    ];
    await put(
      store,
      'documents',
      shuffled(keys).map((each) => row(each)),
    );
    expect(keysOf(await inRange(store, {}))).toEqual(keys);
  });

  test('fetch() takes no key for another that it begins', async () => {
    const store = await fresh();
    await put(store, 'documents', [
      row('a', ['t\0']),
      row('a\0', ['t']),
      row('a\0\x01', ['t\0\0']),
    ]);
    const found = await store.read((tx) =>
      tx.fetch([at('a'), at('a\0'), at('a\0\0'), at('a\0\x01')], []),
    );
    expect(found.rows.map((each) => each?.key)).toEqual(['a', 'a\0', undefined, 'a\0\x01']);
    expect(
      entriesOf(await inRange(store, { by: 'entry', lower: key('t'), upper: key('t\0') })),
    ).toEqual(['t']);
  });
}

function readsRanges(fresh: Fresh): void {
  const digits = '0123456789'.split('');

  test('fetch() includes the lower bound and excludes the upper one', async () => {
    const store = await fresh();
    await put(
      store,
      'documents',
      digits.map((each) => row(each)),
    );
    expect(keysOf(await inRange(store, { lower: key('2'), upper: key('5') }))).toEqual([
      '2',
      '3',
      '4',
    ]);
    expect(await inRange(store, { lower: key('5'), upper: key('5') })).toEqual([]);
    expect(await inRange(store, { lower: key('7'), upper: key('2') })).toEqual([]);
  });

  for (const rows of [true, false])
    for (const by of ['key', 'entry'] as const)
      test(`fetch() limits and reverses ranges by ${by}, ${rows ? 'with' : 'without'} rows`, async () => {
        const store = await fresh();
        const all = digits.map((each) => row(each, [each]));
        await put(store, 'documents', all);
        const range = { by, rows, lower: key('2'), upper: key('8') };
        const expected = (keys: string): Entry[] =>
          keys.split('').map((each) => ({
            entry: key(each),
            key: key(each),
            row: rows ? row(each, [each]) : undefined,
          }));
        expect(await inRange(store, { ...range, limit: 3 })).toEqual(expected('234'));
        expect(await inRange(store, { ...range, limit: 3, reverse: true })).toEqual(
          expected('765'),
        );
        expect(await inRange(store, { ...range, reverse: true })).toEqual(expected('765432'));
        expect(await inRange(store, { ...range, limit: 0 })).toEqual([]);
        expect(await inRange(store, { ...range, limit: 1 })).toEqual(expected('2'));
        expect(await inRange(store, { ...range, limit: Number.MAX_SAFE_INTEGER })).toEqual(
          expected('234567'),
        );
      });

  test('fetch() answers rows and ranges in the order asked', async () => {
    const store = await fresh();
    await put(
      store,
      'documents',
      digits.map((each) => row(each)),
    );
    await put(store, 'history', [row('h')]);
    const found = await store.read((tx) =>
      tx.fetch(
        [at('3'), { space: 'history', key: key('h') }, at('nobody'), at('1')],
        [rangeOf({ lower: key('8') }), rangeOf({ space: 'history' }), rangeOf({ upper: key('1') })],
      ),
    );
    expect(found.rows.map((each) => each?.key)).toEqual(['3', 'h', undefined, '1']);
    expect(found.ranges.map(keysOf)).toEqual([['8', '9'], ['h'], ['0']]);
    expect(await store.read((tx) => tx.fetch([], []))).toEqual({ rows: [], ranges: [] });
  });

  test('fetch() keeps spaces apart', async () => {
    const store = await fresh();
    const spaces = ['documents', 'history', 'meta', 'log', 'files'] as const;
    await write(store, {
      puts: spaces.map((space) => ({ space, row: { ...row('k'), value: space } })),
      deletes: [],
    });
    for (const space of spaces)
      expect((await inRange(store, { space })).map((each) => each.row?.value)).toEqual([space]);
  });
}

function keepsEntries(fresh: Fresh): void {
  for (const rows of [true, false]) {
    test(`fetch() finds a row under each of its entries, ${rows ? 'with' : 'without'} rows`, async () => {
      const store = await fresh();
      await put(store, 'documents', [
        row('1', ['a1', 'c1', 'x']),
        row('2', ['b2']),
        row('3', ['a3', 'a4', 'd3']),
        row('4'),
      ]);
      const found = await inRange(store, { by: 'entry', lower: key('a'), upper: key('d'), rows });
      expect(found.map(({ entry, key: of }) => [entry, of])).toEqual([
        ['a1', '1'],
        ['a3', '3'],
        ['a4', '3'],
        ['b2', '2'],
        ['c1', '1'],
      ]);
      for (const each of found) expect(each.row?.key).toBe(rows ? each.key : undefined);
      const page = await inRange(store, {
        by: 'entry',
        lower: key('a'),
        upper: key('d'),
        rows,
        limit: 2,
      });
      expect(entriesOf(page)).toEqual(['a1', 'a3']);
      const last = await inRange(store, {
        by: 'entry',
        lower: key('a'),
        upper: key('d'),
        rows,
        limit: 3,
        reverse: true,
      });
      expect(entriesOf(last)).toEqual(['c1', 'b2', 'a4']);
    });

    test(`fetch() orders equal entries by primary key, ${rows ? 'with' : 'without'} rows`, async () => {
      const store = await fresh();
      await put(
        store,
        'history',
        ['3', '1', '2'].map((each) => row(each, ['same', `own${each}`])),
      );
      const same = { space: 'history', by: 'entry', lower: key('s'), rows } as const;
      expect(keysOf(await inRange(store, same))).toEqual(['1', '2', '3']);
      expect(keysOf(await inRange(store, { ...same, limit: 2 }))).toEqual(['1', '2']);
      expect(keysOf(await inRange(store, { ...same, limit: 2, reverse: true }))).toEqual([
        '3',
        '2',
      ]);
    });

    test(`fetch() finds a thousand entries and more, ${rows ? 'with' : 'without'} rows`, async () => {
      const store = await fresh();
      await put(
        store,
        'documents',
        sequence(1500).map((i) => row(fixed(i), [`e${fixed(1499 - i)}`, `f${fixed(i)}`])),
      );
      const range = { by: 'entry', lower: key('e'), upper: key('f'), rows, limit: 1400 } as const;
      const up = sequence(1400).map((i) => [`e${fixed(i)}`, fixed(1499 - i)]);
      expect((await inRange(store, range)).map((each) => [each.entry, each.key])).toEqual(up);
      const down = sequence(1400).map((i) => [`e${fixed(1499 - i)}`, fixed(i)]);
      expect(
        (await inRange(store, { ...range, reverse: true })).map((each) => [each.entry, each.key]),
      ).toEqual(down);
    });
  }

  test('apply() replaces the entries of a row with those of its new version', async () => {
    const store = await fresh();
    await put(store, 'documents', [row('1', ['old', 'stays']), row('2', ['other'])]);
    await put(store, 'documents', [{ ...row('1', ['stays', 'new']), value: 'second' }]);
    const found = await inRange(store, { by: 'entry' });
    expect(found.map((each) => [each.entry, each.row?.value])).toEqual([
      ['new', 'second'],
      ['other', '2'],
      ['stays', 'second'],
    ]);
  });

  test('apply() removes the entries of a deleted row', async () => {
    const store = await fresh();
    await put(store, 'documents', [row('1', ['a', 'b']), row('2', ['c'])]);
    await write(store, { puts: [], deletes: [at('1'), at('nobody')] });
    expect(entriesOf(await inRange(store, { by: 'entry' }))).toEqual(['c']);
    expect(keysOf(await inRange(store, {}))).toEqual(['2']);
  });
}

function isolates(fresh: Fresh): void {
  test('read() shows one snapshot while a write commits', async () => {
    const store = await fresh();
    await put(store, 'documents', [row('a', ['e']), row('b')]);
    let writing: Promise<void> | undefined;
    const seen = await store.read(async (tx) => {
      const before = await tx.fetch([at('a')], [rangeOf({})]);
      writing = write(store, {
        puts: [{ space: 'documents', row: { ...row('a'), value: 'new' } }],
        deletes: [at('b')],
      });
      const after = await tx.fetch([at('a')], [rangeOf({})]);
      return { before, after, entries: (await tx.fetch([], [rangeOf({ by: 'entry' })])).ranges[0] };
    });
    await writing;
    expect(seen.after).toEqual(seen.before);
    expect(seen.entries).toHaveLength(1);
    expect((await inRange(store, {})).map((each) => each.row?.value)).toEqual(['new']);
  });

  test('read() sees every write that was acknowledged before it', async () => {
    const store = await fresh();
    for (const value of ['1', '2', '3']) {
      await put(store, 'meta', [{ ...row('k'), value }]);
      expect((await inRange(store, { space: 'meta' })).map((each) => each.row?.value)).toEqual([
        value,
      ]);
    }
  });

  test('write() runs one body at a time', async () => {
    const store = await fresh();
    await Promise.all(sequence(20).map(() => increment(store)));
    expect(await counterOf(store)).toBe(20);
  });

  test('write() returns what its body returns, also when it writes nothing', async () => {
    const store = await fresh();
    expect(await store.write(async () => 'nothing', RELAXED)).toBe('nothing');
    expect(await store.write(async (tx) => (await tx.fetch([at('a')], [])).rows, STRICT)).toEqual([
      undefined,
    ]);
  });

  test('read() and write() refuse what is not among their spaces', async () => {
    const store = await fresh();
    const options = { durability: 'relaxed', spaces: ['log'] } as const;
    const outside: WriteSet = { puts: [{ space: 'meta', row: row('k') }], deletes: [] };
    await expect(store.write(async (tx) => tx.apply(outside), options)).rejects.toThrow(/meta/u);
    await expect(store.read((tx) => tx.fetch([at('k')], []), options)).rejects.toThrow(
      /documents/u,
    );
    await store.write(
      async (tx) => tx.apply({ puts: [{ space: 'log', row: row('k') }], deletes: [] }),
      options,
    );
    expect(keysOf(await inRange(store, { space: 'log' }))).toEqual(['k']);
  });

  test('read() and write() refuse after close()', async () => {
    const store = await fresh();
    await store.close();
    await expect(store.read(async () => 1)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(store.write(async () => 1, RELAXED)).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });
}

function isAtomic(fresh: Fresh): void {
  test('write() drops every write when its body rejects', async () => {
    const store = await fresh();
    await put(store, 'documents', [row('a', ['e'])]);
    const mind = new Error('changed my mind');
    const giveUp = store.write(async (tx) => {
      tx.apply({ puts: [{ space: 'documents', row: row('b', ['f']) }], deletes: [at('a')] });
      await tx.fetch([at('a')], []);
      tx.apply({ puts: [{ space: 'meta', row: row('m') }], deletes: [] });
      throw mind;
    }, STRICT);
    await expect(giveUp).rejects.toBe(mind);
    expect(entriesOf(await inRange(store, { by: 'entry' }))).toEqual(['e']);
    expect(await inRange(store, { space: 'meta' })).toEqual([]);
  });

  test('write() lands all it applied in several calls', async () => {
    const store = await fresh();
    await store.write(async (tx) => {
      tx.apply({ puts: [{ space: 'documents', row: row('a') }], deletes: [] });
      await tx.fetch([], [rangeOf({})]);
      tx.apply({ puts: [{ space: 'history', row: row('b') }], deletes: [] });
    }, STRICT);
    expect(keysOf(await inRange(store, {}))).toEqual(['a']);
    expect(keysOf(await inRange(store, { space: 'history' }))).toEqual(['b']);
  });

  test('write() leaves nothing when any call of the store fails', async () => {
    const store = await fresh();
    await put(store, 'documents', [row('a', ['e']), row('b')]);
    const before = await everything(store);
    const faulty = new FaultStore(store);
    const job = (): Promise<void> =>
      faulty.write(async (tx) => {
        const found = await tx.fetch([at('a')], [rangeOf({ by: 'entry' })]);
        tx.apply({ puts: [{ space: 'documents', row: row('c', ['g']) }], deletes: [at('b')] });
        await tx.fetch([at('c')], []);
        tx.apply({
          puts: [{ space: 'history', row: found.rows[0] ?? row('lost') }],
          deletes: [at('a')],
        });
      }, STRICT);
    faulty.failNth(undefined);
    await job();
    const calls = faulty.calls;
    expect(calls).toBe(6);
    await write(store, {
      puts: before.documents.map((each) => ({ space: 'documents', row: each })),
      deletes: [at('c'), { space: 'history', key: key('a') }],
    });
    for (let n = 1; n <= calls; n += 1) {
      faulty.failNth(n);
      await expect(job()).rejects.toMatchObject({ code: 'storage_unavailable' });
      expect(await everything(store)).toEqual(before);
    }
  });
}

function takesLargeThings(fresh: Fresh): void {
  test('apply() keeps a text of 5 MB and bytes of 5 MB', async () => {
    const store = await fresh();
    const text = 'aé漢😀\ud800'.repeat(1_000_000);
    const bytes = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) & 0xff);
    await write(store, {
      puts: [
        { space: 'documents', row: { key: key('text'), entries: [key('e')], value: text } },
        { space: 'files', row: { key: key('bytes'), entries: [], value: bytes } },
      ],
      deletes: [],
    });
    const { rows } = await store.read((tx) =>
      tx.fetch([at('text'), { space: 'files', key: key('bytes') }], []),
    );
    expect(rows[0]?.value === text).toBe(true);
    const value = rows[1]?.value;
    expect(
      value instanceof Uint8Array &&
        value.length === bytes.length &&
        value.every((each, i) => each === bytes[i]),
    ).toBe(true);
  });

  test('apply() takes ten thousand rows at once', async () => {
    const store = await fresh();
    const rows = sequence(10_000).map((i) =>
      row(fixed((i * 7919) % 10_000), [`x${fixed(i)}`, `y${i % 7}${fixed(i)}`]),
    );
    await put(store, 'documents', rows);
    const found = await inRange(store, { limit: 20_000 });
    expect(found).toHaveLength(10_000);
    expect(found.every((each, i) => each.key === fixed(i))).toBe(true);
    expect(
      await inRange(store, {
        by: 'entry',
        lower: key('y3'),
        upper: key('y4'),
        limit: 20_000,
        rows: false,
      }),
    ).toHaveLength(1429);
  });
}

function worksBesideOthers(another: OpenStore, freshName: () => string): void {
  test('write() loses no increment between two stores on the same data', async () => {
    const name = freshName();
    const stores = [await another(name), await another(name)];
    await Promise.all(sequence(60).map((i) => increment(stores[i % 2] ?? fail())));
    for (const store of stores) expect(await counterOf(store)).toBe(60);
  });

  test('read() sees what another store on the same data has written', async () => {
    const name = freshName();
    const [one, other] = [await another(name), await another(name)];
    await put(one, 'documents', [row('a', ['e'])]);
    expect(await everything(other)).toEqual(await everything(one));
  });

  test('open() finds what was there at close()', async () => {
    const name = freshName();
    const before = await another(name);
    await put(before, 'documents', [row('a', ['e', 'f'])]);
    const kept = await everything(before);
    await before.close();
    expect(await everything(await another(name))).toEqual(kept);
  });
}

function behavesLikeAModel(fresh: Fresh): void {
  test('a store does what a sorted list of rows does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCommit, { maxLength: 12 }),
        fc.array(anyRange, { maxLength: 12 }),
        async (commits, ranges) => {
          const store = await fresh();
          let model: readonly Row[] = [];
          for (const commit of commits) {
            await write(store, commit);
            model = modelWith(model, commit);
          }
          const found = await store.read((tx) => tx.fetch([], ranges));
          expect(found.ranges).toEqual(ranges.map((range) => modelRange(model, range)));
          await store.close();
        },
      ),
      { numRuns: 60 },
    );
  });
}

const anyKey = fc
  .string({ unit: fc.constantFrom('\0', '\x01', 'a', 'b', '\xff'), minLength: 1, maxLength: 3 })
  .map(key);
const anyRow: fc.Arbitrary<Row> = fc.record({
  key: anyKey,
  entries: fc.uniqueArray(anyKey, { maxLength: 4 }),
  value: fc.string({ maxLength: 3 }),
});
const anyCommit: fc.Arbitrary<WriteSet> = fc
  .record({
    rows: fc.uniqueArray(anyRow, { selector: (each) => each.key, maxLength: 6 }),
    gone: fc.uniqueArray(anyKey, { maxLength: 2 }),
  })
  .map(({ rows, gone }) => ({
    puts: rows.map((each) => ({ space: 'documents', row: each })),
    deletes: gone.filter((each) => !rows.some((put) => put.key === each)).map((each) => at(each)),
  }));
const anyRange: fc.Arbitrary<Range> = fc.record({
  space: fc.constant('documents'),
  by: fc.constantFrom('key', 'entry'),
  lower: fc.oneof(fc.constant(key('')), anyKey),
  upper: fc.oneof(fc.constant(key('\xff\xff\xff\xff')), anyKey),
  reverse: fc.boolean(),
  limit: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(1000)),
  rows: fc.boolean(),
});

function modelWith(model: readonly Row[], { puts, deletes }: WriteSet): readonly Row[] {
  const gone = new Set([...deletes.map((each) => each.key), ...puts.map((each) => each.row.key)]);
  return [...model.filter((each) => !gone.has(each.key)), ...puts.map((each) => each.row)];
}

function modelRange(
  model: readonly Row[],
  { by, lower, upper, reverse, limit, rows }: Range,
): Entry[] {
  const all = model.flatMap((each) =>
    (by === 'key' ? [each.key] : each.entries).map((entry) => ({
      entry,
      key: each.key,
      row: rows ? each : undefined,
    })),
  );
  all.sort((a, b) => order(a.entry, b.entry) || order(a.key, b.key));
  if (reverse) all.reverse();
  return all.filter(({ entry }) => entry >= lower && entry < upper).slice(0, limit);
}

const STRICT = { durability: 'strict' } as const;
const RELAXED = { durability: 'relaxed' } as const;
const COUNTER = { space: 'meta', key: key('counter') } as const;

function increment(store: Store): Promise<void> {
  return store.write(async (tx) => {
    const count = Number((await tx.fetch([COUNTER], [])).rows[0]?.value ?? 0);
    tx.apply({
      puts: [{ space: 'meta', row: { key: COUNTER.key, entries: [], value: String(count + 1) } }],
      deletes: [],
    });
  }, RELAXED);
}

const counterOf = (store: Store): Promise<number> =>
  store.read(async (tx) => Number((await tx.fetch([COUNTER], [])).rows[0]?.value));

async function everything(
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

async function inRange(store: Store, range: Partial<Range>): Promise<readonly Entry[]> {
  return (await store.read((tx) => tx.fetch([], [rangeOf(range)]))).ranges[0] ?? [];
}

const write = (store: Store, writes: WriteSet): Promise<void> =>
  store.write(async (tx) => tx.apply(writes), RELAXED);

const put = (store: Store, space: Space, rows: readonly Row[]): Promise<void> =>
  write(store, { puts: rows.map((each) => ({ space, row: each })), deletes: [] });

const rangeOf = (range: Partial<Range>): Range => ({
  space: 'documents',
  by: 'key',
  lower: key(''),
  upper: key('\xff\xff\xff\xff'),
  reverse: false,
  limit: 1000,
  rows: true,
  ...range,
});

const row = (name: string, entries: readonly string[] = []): Row => ({
  key: key(name),
  entries: entries.map(key),
  value: name,
});
const at = (name: string): { space: Space; key: Key } => ({ space: 'documents', key: key(name) });
const keysOf = (entries: readonly Entry[]): Key[] => entries.map((each) => each.key);
const entriesOf = (entries: readonly Entry[]): Key[] => entries.map((each) => each.entry);
const sequence = (length: number): number[] => Array.from({ length }, (_, i) => i);
const fixed = (i: number): string => String(i).padStart(6, '0');
const order = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0);
const shuffled = (keys: readonly string[]): string[] =>
  keys.map((_, i) => keys[(i * 7) % keys.length] ?? '');

function fail(): never {
  throw new Error('no store');
}

/** Stores take any bytes: these are not encoded values. */
function key(bytes: string): Key {
  return bytes as Key;
}
