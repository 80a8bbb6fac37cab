import { afterEach, expect, test, vi } from 'vitest';
import type { KeptWrite } from '../../src/sync/device/state/outbox-record.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import { openStorage } from '../testing/private-files.ts';
import { forgetKept, lastKept, OutboxFile, readKept } from './outbox-file.ts';

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

const isOfOne = ({ device }: KeptWrite): boolean => device === 'one';

const stateAt = (numbers: Pick<ReplicaState, 'lastSeq' | 'settledSeq'>) =>
  ({ device: 'one', ...numbers }) as ReplicaState;

const seqs = (writes: readonly KeptWrite[]) => writes.map(({ item }) => item.seq);

async function opened(tab: string): Promise<OutboxFile> {
  const file = await OutboxFile.open('notes', tab);
  if (!file) throw new Error('There are files here.');
  return file;
}

test('readKept() returns the writes of several tabs in order, each once', async () => {
  await openStorage();
  const [one, other] = [await opened('one'), await opened('other')];
  one.keep(write(1));
  one.keep(write(2));
  other.keep(write(3));
  other.keep(write(2));
  one.keep(write(4));
  one.close();
  other.close();
  expect(seqs(await readKept('notes'))).toEqual([1, 2, 3, 4]);
});

test('readKept() leaves out a write that a kill has cut off, and returns the writes before it', async () => {
  const { folder } = await openStorage();
  const file = await opened('one');
  file.keep(write(1));
  file.keep(write(2));
  file.close();
  const stored = folder.files.get('one.jsonl');
  if (stored) stored.bytes = stored.bytes.slice(0, -5);
  expect(seqs(await readKept('notes'))).toEqual([1]);
});

test('a line of settled numbers that a power failure has cut off is not read as a write', async () => {
  const { folder } = await openStorage();
  const file = await opened('one');
  file.keep(write(12));
  file.settle(stateAt({ lastSeq: 12, settledSeq: 12 }), file.kept);
  file.keep(write(13));
  file.close();
  const other = folder.files.get('one.2.jsonl');
  const cut = (text: string) => {
    if (other) other.bytes = new TextEncoder().encode(text);
  };
  for (const left of ['12', '12 ', 'null', '{}']) {
    cut(left);
    expect(seqs(await readKept('notes'))).toEqual([13]);
  }
  await forgetKept('notes', isOfOne);
  expect([...folder.files.keys()]).toEqual([]);
});

test('a full file keeps no partial write', async () => {
  const { folder } = await openStorage();
  const file = await opened('one');
  file.keep(write(1));
  const stored = folder.files.get('one.jsonl');
  if (stored) stored.room = stored.bytes.length + 10;
  expect(() => file.keep(write(2))).toThrow('full');
  if (stored) stored.room = Infinity;
  file.keep(write(3));
  file.close();
  expect(seqs(await readKept('notes'))).toEqual([1, 3]);
});

test('flushed() flushes once for all writes of one turn', async () => {
  const { folder } = await openStorage();
  const file = await opened('one');
  file.keep(write(1));
  const first = file.flushed();
  file.keep(write(2));
  await Promise.all([first, file.flushed()]);
  expect(folder.files.get('one.jsonl')?.flushes).toBe(1);
  await file.flushed();
  expect(folder.files.get('one.jsonl')?.flushes).toBe(2);
});

test('readKept() does not return writes that settle() has removed', async () => {
  await openStorage();
  const file = await opened('one');
  file.keep(write(1));
  file.settle(stateAt({ lastSeq: 1, settledSeq: 1 }), file.kept);
  file.keep(write(2));
  file.close();
  expect(seqs(await readKept('notes'))).toEqual([2]);
});

test('forgetKept() removes closed files of this device, and neither open files nor those of another device', async () => {
  const { folder } = await openStorage();
  for (const [tab, device] of [
    ['mine', 'one'],
    ['other', 'two'],
  ] as const) {
    const file = await opened(tab);
    file.keep(write(1, device));
    file.close();
  }
  const busy = await opened('busy');
  busy.keep(write(2));
  await forgetKept('notes', isOfOne);
  expect([...folder.files.keys()]).toEqual(['other.jsonl', 'busy.jsonl', 'busy.2.jsonl']);
  busy.close();
  await forgetKept('notes');
  expect([...folder.files.keys()]).toEqual([]);
});

test('without file storage OutboxFile.open() returns undefined, and nothing fails', async () => {
  vi.stubGlobal('navigator', {
    storage: { getDirectory: () => Promise.reject(new Error('none')) },
  });
  expect(await OutboxFile.open('notes', 'one')).toBeUndefined();
  expect(await readKept('notes')).toEqual([]);
  await forgetKept('notes');
});

test('OutboxFile.open() makes a file again that another tab deletes; readKept() leaves out a deleted file', async () => {
  const { folder } = await openStorage();
  (await folder.getFileHandle('mine.jsonl')).isGoneBefore = 'open';
  const mine = await opened('mine');
  mine.keep(write(1));
  mine.close();
  (await folder.getFileHandle('gone.jsonl')).isGoneBefore = 'read';
  expect(seqs(await readKept('notes'))).toEqual([1]);
  await forgetKept('notes', isOfOne);
  expect([...folder.files.keys()]).toEqual([]);
});

test('lastKept() returns the last write of the latest device id, even if a former id has higher numbers', async () => {
  await openStorage();
  expect(await lastKept('notes')).toBeUndefined();
  const at = (seq: number, device: string, now: number): KeptWrite => {
    const kept = write(seq, device);
    return { ...kept, item: { ...kept.item, now } };
  };
  const former = await opened('former');
  for (const seq of [7, 8, 9]) former.keep(at(seq, 'former', seq));
  former.close();
  const present = await opened('present');
  // The second write has the latest time: the clock was set back after it.
  for (const [seq, now] of [
    [1, 8],
    [2, 11],
    [3, 10],
  ] as const)
    present.keep(at(seq, 'present', now));
  present.close();
  expect(await lastKept('notes')).toMatchObject({ device: 'present', item: { seq: 3 } });
});
