import { afterEach, expect, test, vi } from 'vitest';
import { forgetKept, OutboxFile, readKept, type KeptWrite } from './outbox-file.ts';

/** A file that is open in one place only, as the browser has it. */
class FakeFile {
  bytes = new Uint8Array();
  isOpen = false;
  flushes = 0;
  /** Bytes it takes before it is full. */
  room = Infinity;
  /** Another tab deletes it at the next call of this kind. */
  isGoneBefore: 'open' | 'read' | undefined = undefined;

  createSyncAccessHandle() {
    if (this.isGoneBefore === 'open') {
      this.isGoneBefore = undefined;
      return Promise.reject(new DOMException('', 'NotFoundError'));
    }
    if (this.isOpen) return Promise.reject(new DOMException('', 'NoModificationAllowedError'));
    this.isOpen = true;
    return Promise.resolve({
      getSize: () => this.bytes.length,
      read: () => 0,
      write: (added: Uint8Array, { at }: { at: number }) => {
        const written = added.subarray(0, Math.max(0, this.room - at));
        const next = new Uint8Array(at + written.length);
        next.set(this.bytes.subarray(0, at));
        next.set(written, at);
        this.bytes = next;
        return written.length;
      },
      truncate: (size: number) => {
        this.bytes = this.bytes.slice(0, size);
      },
      flush: () => {
        this.flushes += 1;
      },
      close: () => {
        this.isOpen = false;
      },
    });
  }
  getFile() {
    if (this.isGoneBefore === 'read')
      return Promise.resolve({
        text: () => Promise.reject(new DOMException('', 'NotFoundError')),
      });
    return this.isOpen
      ? Promise.reject(new DOMException('', 'NotReadableError'))
      : Promise.resolve(new Blob([this.bytes]));
  }
}

class FakeFolder {
  readonly files = new Map<string, FakeFile>();
  private readonly folders = new Map<string, FakeFolder>();

  getDirectoryHandle(name: string, { create = false } = {}): Promise<FakeFolder> {
    const found = this.folders.get(name) ?? (create ? new FakeFolder() : undefined);
    if (!found) return Promise.reject(new DOMException('', 'NotFoundError'));
    this.folders.set(name, found);
    return Promise.resolve(found);
  }
  getFileHandle(name: string): Promise<FakeFile> {
    const found = this.files.get(name) ?? new FakeFile();
    this.files.set(name, found);
    return Promise.resolve(found);
  }
  removeEntry(name: string): Promise<void> {
    if (this.files.get(name)?.isOpen === true)
      return Promise.reject(new DOMException('', 'NoModificationAllowedError'));
    this.files.delete(name);
    return Promise.resolve();
  }
  async *entries(): AsyncGenerator<[string, FakeFile]> {
    yield* this.files;
  }
}

async function openStorage() {
  const root = new FakeFolder();
  vi.stubGlobal('navigator', { storage: { getDirectory: () => Promise.resolve(root) } });
  const all = await root.getDirectoryHandle('burrow-outbox', { create: true });
  return { root, folder: await all.getDirectoryHandle('notes', { create: true }) };
}

afterEach(() => vi.unstubAllGlobals());

const write = (seq: number, device = 'one', query = '{}'): KeptWrite => ({
  device,
  item: {
    seq,
    hash: `hash ${seq}`,
    query,
    apiVersion: '4',
    now: seq,
    ids: [],
    digest: undefined,
    idKey: undefined,
  },
});

const seqs = (writes: readonly KeptWrite[]) => writes.map(({ item }) => item.seq);

async function opened(tab: string): Promise<OutboxFile> {
  const file = await OutboxFile.open('notes', tab);
  if (!file) throw new Error('There are files here.');
  return file;
}

test('what several tabs kept is read in order, each write once', async () => {
  await openStorage();
  const [one, other] = [await opened('one'), await opened('other')];
  one.keep([write(1), write(2)]);
  other.keep([write(3), write(2)]);
  one.keep([write(4)]);
  one.close();
  other.close();
  expect(seqs(await readKept('notes'))).toEqual([1, 2, 3, 4]);
});

test('what a kill has cut off is not there, and spoils nothing that came before', async () => {
  const { folder } = await openStorage();
  const file = await opened('one');
  file.keep([write(1), write(2)]);
  file.close();
  const stored = folder.files.get('one.jsonl');
  if (stored) stored.bytes = stored.bytes.slice(0, -5);
  expect(seqs(await readKept('notes'))).toEqual([1]);
});

test('a file that is full keeps whole writes only', async () => {
  const { folder } = await openStorage();
  const file = await opened('one');
  file.keep([write(1)]);
  const stored = folder.files.get('one.jsonl');
  if (stored) stored.room = stored.bytes.length + 10;
  expect(() => file.keep([write(2)])).toThrow('full');
  if (stored) stored.room = Infinity;
  file.keep([write(3)]);
  file.close();
  expect(seqs(await readKept('notes'))).toEqual([1, 3]);
});

test('one flush does for all that were kept in one turn', async () => {
  const { folder } = await openStorage();
  const file = await opened('one');
  file.keep([write(1)]);
  const first = file.flushed();
  file.keep([write(2)]);
  await Promise.all([first, file.flushed()]);
  expect(folder.files.get('one.jsonl')?.flushes).toBe(1);
  await file.flushed();
  expect(folder.files.get('one.jsonl')?.flushes).toBe(2);
});

test('clear() leaves nothing to be read', async () => {
  await openStorage();
  const file = await opened('one');
  file.keep([write(1)]);
  file.clear();
  file.keep([write(2)]);
  file.close();
  expect(seqs(await readKept('notes'))).toEqual([2]);
});

test('forgetKept() removes what is elsewhere: neither files that are open nor those of another device', async () => {
  const { folder } = await openStorage();
  for (const [tab, device] of [
    ['mine', 'one'],
    ['other', 'two'],
  ] as const) {
    const file = await opened(tab);
    file.keep([write(1, device)]);
    file.close();
  }
  const busy = await opened('busy');
  busy.keep([write(2)]);
  await forgetKept('notes', 'one');
  expect([...folder.files.keys()]).toEqual(['other.jsonl', 'busy.jsonl']);
  busy.close();
  await forgetKept('notes');
  expect([...folder.files.keys()]).toEqual([]);
});

test('where a browser has no such files there is no copy, and nothing fails', async () => {
  vi.stubGlobal('navigator', {
    storage: { getDirectory: () => Promise.reject(new Error('none')) },
  });
  expect(await OutboxFile.open('notes', 'one')).toBeUndefined();
  expect(await readKept('notes')).toEqual([]);
  await forgetKept('notes');
});

test('a file that another tab deletes before it is open is made again; one that is gone holds nothing', async () => {
  const { folder } = await openStorage();
  (await folder.getFileHandle('mine.jsonl')).isGoneBefore = 'open';
  const mine = await opened('mine');
  mine.keep([write(1)]);
  mine.close();
  (await folder.getFileHandle('gone.jsonl')).isGoneBefore = 'read';
  expect(seqs(await readKept('notes'))).toEqual([1]);
  await forgetKept('notes', 'one');
  expect([...folder.files.keys()]).toEqual([]);
});
