import { expect, test } from 'vitest';
import type { Key } from '../codec/key.ts';
import { createMemoryStore, SharedMemory } from './memory.ts';
import type { Entry } from './port.ts';
import { SortedEntries } from './sorted-entries.ts';
import { describeStore } from './store.contract.ts';

const memories = new Map<string, SharedMemory>();

describeStore('createMemoryStore()', async (name) => {
  const memory = memories.get(name) ?? new SharedMemory();
  memories.set(name, memory);
  return createMemoryStore(memory);
});

test('apply() of the memory store fails after the body of write() has ended', async () => {
  const store = createMemoryStore();
  let late: (() => void) | undefined;
  await store.write(
    async (tx) => {
      late = () => tx.apply({ puts: [], deletes: [] });
    },
    { durability: 'relaxed' },
  );
  expect(late).toThrow(/after its body has ended/u);
});

test('fork() leaves the original entries unchanged', () => {
  let current = SortedEntries.empty();
  const versions: { entries: SortedEntries; length: number }[] = [];
  for (let i = 0; i < 5000; i += 1) {
    if (i % 500 === 0) {
      versions.push({ entries: current, length: i });
      current = current.fork();
    }
    current.put(entryAt((i * 3571) % 5000));
  }
  for (const { entries, length } of versions) expect(entries.within(ALL)).toHaveLength(length);
  expect(current.within(ALL)).toEqual(Array.from({ length: 5000 }, (_, i) => entryAt(i)));
});

test('delete() in any order removes all entries that put() has added', () => {
  const entries = SortedEntries.empty();
  for (let i = 0; i < 2000; i += 1) entries.put(entryAt((i * 7) % 2000));
  for (let i = 0; i < 2000; i += 2) entries.delete(entryAt(i).entry, entryAt(i).key);
  expect(entries.within({ ...ALL, reverse: true })).toHaveLength(1000);
  expect(entries.get(entryAt(4).entry, entryAt(4).key)).toBeUndefined();
  for (let i = 1; i < 2000; i += 2) entries.delete(entryAt(i).entry, entryAt(i).key);
  expect(entries.within(ALL)).toEqual([]);
});

const ALL = { lower: '' as Key, upper: '\xff' as Key, reverse: false, limit: 10_000 };

function entryAt(i: number): Entry {
  const entry = String(i).padStart(5, '0') as Key;
  return { entry, key: entry, row: undefined };
}
