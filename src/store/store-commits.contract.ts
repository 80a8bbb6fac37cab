/** What every store must do with transactions. */
import { expect, test } from 'vitest';
import { FailingStore } from './testing/failing-store.ts';
import type { WriteSet } from './port.ts';
import {
  STRICT,
  RELAXED,
  increment,
  counterOf,
  everything,
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
  fail,
  key,
  type Fresh,
  type OpenStore,
} from './testing/store-rows.ts';

export function isolates(fresh: Fresh): void {
  test('read() shows one snapshot while a write commits (L3)', async () => {
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

  test('read() and write() refuse access to undeclared spaces', async () => {
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

  test('read() and write() fail after close()', async () => {
    const store = await fresh();
    await store.close();
    await expect(store.read(async () => 1)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(store.write(async () => 1, RELAXED)).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });
}

export function isAtomic(fresh: Fresh): void {
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

  test('write() commits the changes of several apply() calls', async () => {
    const store = await fresh();
    await store.write(async (tx) => {
      tx.apply({ puts: [{ space: 'documents', row: row('a') }], deletes: [] });
      await tx.fetch([], [rangeOf({})]);
      tx.apply({ puts: [{ space: 'history', row: row('b') }], deletes: [] });
    }, STRICT);
    expect(keysOf(await inRange(store, {}))).toEqual(['a']);
    expect(keysOf(await inRange(store, { space: 'history' }))).toEqual(['b']);
  });

  test('write() leaves no change if any call of the store fails (L1)', async () => {
    const store = await fresh();
    await put(store, 'documents', [row('a', ['e']), row('b')]);
    const before = await everything(store);
    const faulty = new FailingStore(store);
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

export function takesLargeThings(fresh: Fresh): void {
  test('apply() stores a text of 5 MB and bytes of 5 MB', async () => {
    const store = await fresh();
    const text = 'aé漢😀\ud800'.repeat(1_000_000);
    const bytes = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * 31) & 0xff);
    await put(store, 'documents', [{ key: key('text'), entries: [key('e')], value: text }]);
    await put(store, 'files', [{ key: key('bytes'), entries: [], value: bytes }]);
    expect((await inRange(store, {}))[0]?.row?.value === text).toBe(true);
    const value = (await inRange(store, { space: 'files' }))[0]?.row?.value;
    expect(
      value instanceof Uint8Array &&
        value.length === bytes.length &&
        value.every((each, i) => each === bytes[i]),
    ).toBe(true);
  });

  test('apply() stores ten thousand rows at once', async () => {
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

export function worksBesideOthers(another: OpenStore, freshName: () => string): void {
  test('write() loses no increment if two stores share the data', async () => {
    const name = freshName();
    const stores = [await another(name), await another(name)];
    await Promise.all(sequence(60).map((i) => increment(stores[i % 2] ?? fail())));
    for (const store of stores) expect(await counterOf(store)).toBe(60);
  });

  test('read() sees the writes of another store on the same data', async () => {
    const name = freshName();
    const [one, other] = [await another(name), await another(name)];
    await put(one, 'documents', [row('a', ['e'])]);
    expect(await everything(other)).toEqual(await everything(one));
  });

  test('open() finds the data as they were at close()', async () => {
    const name = freshName();
    const before = await another(name);
    await put(before, 'documents', [row('a', ['e', 'f'])]);
    const kept = await everything(before);
    await before.close();
    expect(await everything(await another(name))).toEqual(kept);
  });
}
