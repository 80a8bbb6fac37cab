/** What every store must return for rows and ranges. */
import { expect, test } from 'vitest';
import type { Entry, Range, Row } from './port.ts';
import {
  inRange,
  write,
  put,
  rangeOf,
  row,
  at,
  keysOf,
  entriesOf,
  sequence,
  fixed,
  shuffled,
  key,
  type Fresh,
} from './testing/store-rows.ts';

export function ordersKeys(fresh: Fresh): void {
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

  test('fetch() distinguishes a key from longer keys that begin with it', async () => {
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

export function readsRanges(fresh: Fresh): void {
  const digits = '0123456789'.split('');

  test('fetch() includes the lower bound and excludes the upper bound', async () => {
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

  test('fetch() returns rows and ranges in the requested order', async () => {
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

  test('fetch() keeps spaces separate', async () => {
    const store = await fresh();
    const spaces = ['documents', 'history', 'meta', 'log', 'files'] as const;
    for (const space of spaces) await put(store, space, [{ ...row('k'), value: space }]);
    for (const space of spaces)
      expect((await inRange(store, { space })).map((each) => each.row?.value)).toEqual([space]);
  });
}

export function keepsEntries(fresh: Fresh): void {
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

    test(`fetch() finds more than a thousand entries, ${rows ? 'with' : 'without'} rows`, async () => {
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

/** Tests of fetches with a limit in bytes. */
export function boundsBytes(fresh: Fresh): void {
  const BYTES = 1000;
  const COUNT = 300;
  const large = (i: number): Row => ({
    ...row(fixed(i), [`e${fixed(i)}`]),
    value: 'x'.repeat(BYTES),
  });
  const all = sequence(COUNT).map((i) => large(i));
  const ranges: readonly Partial<Range>[] = [
    {},
    { reverse: true },
    { by: 'entry' },
    { by: 'entry', reverse: true },
    { by: 'entry', rows: false, limit: 5000 },
    { by: 'entry', rows: false, limit: 5000, reverse: true },
  ];

  test('fetch() with a byte limit returns the first rows and entries only', async () => {
    const store = await fresh();
    await put(store, 'documents', all);
    const addresses = all.flatMap(({ key: each }) => [
      { space: 'documents', key: each } as const,
      at(`${each} is not there`),
    ]);
    const found = await store.read((tx) => tx.fetch(addresses, [], 20 * BYTES));
    expect(found.truncation?.rows).toBe(found.rows.length);
    expect(found.rows.length).toBeGreaterThan(20);
    expect(found.rows.length).toBeLessThan(50);
    const whole = (await store.read((tx) => tx.fetch(addresses, []))).rows;
    expect(found.rows).toEqual(whole.slice(0, found.rows.length));
    for (const each of ranges) {
      const range = rangeOf(each);
      const cut = await store.read((tx) => tx.fetch([], [range], 20 * BYTES));
      expect([...(cut.truncation?.ranges ?? [])]).toEqual([0]);
      const entries = cut.ranges[0] ?? [];
      expect(entries.length).toBeGreaterThan(0);
      expect(entries.length).toBeLessThan(250);
      expect(entries).toEqual((await inRange(store, each)).slice(0, entries.length));
    }
  });

  test('fetch() with a byte limit reports no truncation if everything fits', async () => {
    const store = await fresh();
    await put(store, 'documents', all);
    const addresses = all.map(({ key: each }) => ({ space: 'documents', key: each }) as const);
    const bytesMax = 10 * COUNT * BYTES;
    for (const each of [...ranges, { limit: 7 }, { limit: COUNT }, { lower: key('z') }]) {
      const asked = [rangeOf(each), rangeOf({ ...each, limit: 200 })];
      const found = await store.read((tx) => tx.fetch(addresses, asked, bytesMax));
      expect(found).toEqual(await store.read((tx) => tx.fetch(addresses, asked)));
      expect(found.truncation).toBeUndefined();
    }
  });

  test('fetch() returns at least one row, and one entry of the first range, whatever the byte limit', async () => {
    const store = await fresh();
    await put(store, 'documents', all);
    const addresses = all.map(({ key: each }) => ({ space: 'documents', key: each }) as const);
    const asked = ranges.map((each) => rangeOf(each));
    const found = await store.read((tx) => tx.fetch(addresses, asked, 1));
    expect(found.rows[0]).toEqual(all[0]);
    expect(found.ranges[0]?.[0]?.row).toEqual(all[0]);
    expect(found.truncation?.ranges.size).toBe(ranges.length);
    for (const [i, range] of asked.entries()) {
      const given = found.ranges[i] ?? [];
      expect(given).toEqual((await inRange(store, range)).slice(0, given.length));
    }
  });
}
