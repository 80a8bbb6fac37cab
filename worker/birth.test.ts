import { expect, test } from 'vitest';
import { metaKey } from '../src/codec/key.ts';
import { createMemoryStore } from '../src/store/memory.ts';
import { guardBirth, readOrMakeBirth } from './birth.ts';

const row = (value: string) => ({
  space: 'log' as const,
  row: { key: metaKey('x'), entries: [], value },
});
const relaxed = { durability: 'relaxed' } as const;

test('a database keeps the mark it was born with', async () => {
  const store = createMemoryStore();
  expect(await readOrMakeBirth(store, () => 'first')).toBe('first');
  expect(await readOrMakeBirth(store, () => 'second')).toBe('first');
});

test('a store whose mark is gone is not written to', async () => {
  const store = createMemoryStore();
  const birth = await readOrMakeBirth(store, () => 'first');
  let losses = 0;
  const guarded = guardBirth(store, birth, () => losses++);
  const put = (value: string) =>
    guarded.write(async (tx) => tx.apply({ puts: [row(value)], deletes: [] }), relaxed);
  await put('kept');
  await store.write(
    async (tx) => tx.apply({ puts: [], deletes: [{ space: 'meta', key: metaKey('birth') }] }),
    relaxed,
  );
  await expect(put('refused')).rejects.toMatchObject({ code: 'local_data_loss' });
  expect(losses).toBe(1);
  const { rows } = await guarded.read((tx) => tx.fetch([{ space: 'log', key: metaKey('x') }], []));
  expect(rows[0]?.value).toBe('kept');
});

test('a body that fails is what the caller hears of', async () => {
  const store = createMemoryStore();
  const guarded = guardBirth(store, await readOrMakeBirth(store, () => 'first'), () => undefined);
  await expect(guarded.write(() => Promise.reject(new Error('own')), relaxed)).rejects.toThrow(
    'own',
  );
});
