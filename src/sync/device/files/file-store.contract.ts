/** What every file store must do. */
import { beforeEach, expect, test } from 'vitest';
import type { FileName } from '../../protocol/files.ts';
import type { FileRecord, FileStore } from './file-store.ts';
import { newRecord } from './put-file.ts';

const name = (digit: string): FileName => `file:${digit.repeat(64)}`;
const record = (digit: string, more: Partial<FileRecord> = {}): FileRecord => ({
  ...newRecord(name(digit), { size: 3, chunks: ['0'.repeat(64)] }),
  ...more,
});

export function describeFileStore(open: () => Promise<FileStore>): void {
  let store: FileStore;
  beforeEach(async () => {
    store = await open();
  });
  const put = (of: FileRecord): Promise<unknown> => store.update(of.file, () => of);

  test('records are stored completely, one per file name', async () => {
    expect(await store.record(name('a'))).toBeUndefined();
    expect(await store.records()).toEqual([]);
    const full = record('a', {
      isWhole: true,
      usedMs: 5,
      unsent: [
        [1024, '7'],
        ['notes', '8'],
      ],
      noted: 3,
      sent: [[1024, '6']],
      epoch: '0a'.repeat(16),
      failed: 'Too large.',
      linkedTs: 9,
    });
    await put(full);
    await put(record('b'));
    expect(await store.record(name('a'))).toEqual(full);
    expect(await store.record(name('b'))).toEqual(record('b'));
    expect([...(await store.records())].sort((x, y) => (x.file < y.file ? -1 : 1))).toEqual([
      full,
      record('b'),
    ]);
  });

  test('update() changes nothing if its function returns undefined', async () => {
    expect(await store.update(name('a'), () => undefined)).toBeUndefined();
    await put(record('a'));
    expect(await store.update(name('a'), () => undefined)).toEqual(record('a'));
    expect(await store.records()).toEqual([record('a')]);
  });

  test('concurrent updates of a record run one after the other', async () => {
    await put(record('a'));
    await Promise.all(
      Array.from({ length: 20 }, () =>
        store.update(name('a'), (before) => before && { ...before, usedMs: before.usedMs + 1 }),
      ),
    );
    expect(await store.record(name('a'))).toMatchObject({ usedMs: 20 });
  });

  test('chunks belong to one file and are removed with it', async () => {
    const bytes = Uint8Array.of(0, 255, 7);
    await put(record('a'));
    await put(record('b'));
    for (const file of [name('a'), name('b')])
      for (const n of [0, 1, 10]) await store.putChunk(file, n, bytes);
    await store.putChunk(name('a'), 0, Uint8Array.of(1));
    expect([...((await store.chunk(name('a'), 0)) ?? [])]).toEqual([1]);
    expect([...((await store.chunk(name('a'), 10)) ?? [])]).toEqual([0, 255, 7]);
    expect(await store.chunk(name('a'), 2)).toBeUndefined();
    expect(await store.remove(name('a'), () => true)).toBe(true);
    expect(await store.record(name('a'))).toBeUndefined();
    for (const n of [0, 1, 10]) expect(await store.chunk(name('a'), n)).toBeUndefined();
    expect([...((await store.chunk(name('b'), 1)) ?? [])]).toEqual([0, 255, 7]);
  });

  test('remove() keeps a file for which its condition is false', async () => {
    expect(await store.remove(name('a'), () => true)).toBe(false);
    const unsent = record('a', { unsent: [['notes', '1']] });
    await put(unsent);
    await store.putChunk(name('a'), 0, Uint8Array.of(1));
    expect(await store.remove(name('a'), (found) => found.unsent.length === 0)).toBe(false);
    expect(await store.record(name('a'))).toEqual(unsent);
    expect([...((await store.chunk(name('a'), 0)) ?? [])]).toEqual([1]);
  });
}
