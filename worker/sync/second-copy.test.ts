import { afterEach, expect, test, vi } from 'vitest';
import type { KeptWrite, SavedWrite } from '../../src/sync/device/state/outbox-record.ts';
import type { Actor } from '../../src/sync/protocol/messages.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import { openStorage } from '../testing/private-files.ts';
import { readKept } from './outbox-file.ts';
import { SecondCopy, type SecondCopyOptions } from './second-copy.ts';

afterEach(() => vi.unstubAllGlobals());

type Numbers = Pick<ReplicaState, 'device' | 'lastSeq' | 'settledSeq' | 'actor'>;

const userOf = (id: string): Actor => ({
  database: [],
  identity: [1024, id],
  role: 'roles',
  roles: [],
});
const ADA = userOf('1');

/** Tabs of one copy, and the state of the copy as stored. */
async function openCopy() {
  const { folder } = await openStorage();
  const recovered: string[] = [];
  let state: Numbers = { device: 'aa', lastSeq: 0, settledSeq: 0, actor: ADA };
  const replica = {
    state: () => Promise.resolve(state),
    recover: (device: string | undefined, writes: readonly SavedWrite[]) => {
      for (const { item } of writes) recovered.push(`${device} ${item.seq}`);
      return Promise.resolve(0);
    },
    unsent: () => {
      const { device, lastSeq, settledSeq } = state;
      const seqs = numbers(settledSeq + 1, lastSeq);
      return Promise.resolve(seqs.map((seq) => write(seq, device, 10)));
    },
  } as unknown as SecondCopyOptions['replica'];
  const openTab = async () => {
    const report = (reason: unknown) => {
      throw reason;
    };
    const tab = new SecondCopy({ name: 'notes', replica, report, durability: 'relaxed' });
    await tab.recover(state as ReplicaState);
    return tab;
  };
  const submit = async (tab: SecondCopy, chars = 10): Promise<void> => {
    state = { ...state, lastSeq: state.lastSeq + 1 };
    await tab.keep(write(state.lastSeq, state.device, chars));
  };
  const settle = async (settledSeq: number, tabs: readonly SecondCopy[]): Promise<void> => {
    state = { ...state, settledSeq };
    for (const tab of tabs) await tab.reconcile();
  };
  /** Renumbers the writes without a verdict. */
  const move = (device: string): void => {
    const { lastSeq, settledSeq } = state;
    state = { ...state, device, lastSeq: lastSeq - settledSeq, settledSeq: 0 };
  };
  const bytes = (): number =>
    [...folder.files.values()].reduce((sum, file) => sum + file.bytes.length, 0);
  /** Resets the database to an earlier state. */
  const revert = (to: Numbers): void => void (state = to);
  return {
    folder,
    replica,
    recovered,
    openTab,
    submit,
    settle,
    move,
    revert,
    bytes,
    state: () => state,
  };
}

const write = (seq: number, device: string, chars: number): KeptWrite => ({
  device,
  item: {
    seq,
    hash: `hash ${seq}`,
    query: 'x'.repeat(chars),
    apiVersion: '4',
    now: seq,
    ids: [],
    digest: undefined,
    idKey: undefined,
  },
});

type Folder = Awaited<ReturnType<typeof openStorage>>['folder'];

/** Numbers of the writes that are found after a kill. */
const found = async (folder: Folder) => (await foundWrites(folder)).map(({ item }) => item.seq);

async function foundWrites(folder: Folder) {
  const open = [...folder.files.values()].filter((file) => file.isOpen);
  for (const file of open) file.isOpen = false;
  const kept = await readKept('notes');
  for (const file of open) file.isOpen = true;
  return kept;
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

test('files stay small while writes overlap, and no write without a verdict is lost', async () => {
  const { folder, openTab, submit, settle, bytes } = await openCopy();
  const tab = await openTab();
  await submit(tab, 200_000);
  for (let seq = 2; seq <= 40; seq += 1) {
    await submit(tab, 200_000);
    await settle(seq - 1, [tab]);
    expect(await found(folder)).toContain(seq);
    expect(bytes()).toBeLessThan(2_500_000);
  }
});

test('several tabs that truncate their files at different times leave no gap in the writes found', async () => {
  const { folder, openTab, submit, settle } = await openCopy();
  const [one, other] = [await openTab(), await openTab()];
  for (let seq = 1; seq <= 30; seq += 1) {
    // The first tab fills its files sooner than the other.
    await (seq % 5 === 0 ? submit(other) : submit(one, 200_000));
    await settle(Math.max(0, seq - 3), seq % 2 === 0 ? [one] : [other, one]);
    const kept = await found(folder);
    expect(kept).toEqual(numbers(kept[0]!, seq));
    expect(kept[0]).toBeLessThanOrEqual(Math.max(1, seq - 2));
  }
  await settle(30, [one]);
  await submit(one);
  expect(await found(folder)).toEqual([31]);
});

test('a write that is stored while its tab reads the state is not truncated', async () => {
  const { folder, openTab, replica, submit, settle } = await openCopy();
  const tab = await openTab();
  await submit(tab);
  const before = (await replica.state())!;
  vi.spyOn(replica, 'state').mockImplementationOnce(async () => {
    await submit(tab);
    return { ...before, settledSeq: 1 };
  });
  await settle(1, [tab]);
  expect(await found(folder)).toContain(2);
});

test('renumbered writes are kept until they have verdicts, and then removed', async () => {
  const { folder, openTab, submit, settle, move, bytes } = await openCopy();
  const tab = await openTab();
  for (let seq = 1; seq <= 20; seq += 1) await submit(tab, 100_000);
  await settle(18, [tab]);
  move('bb');
  await submit(tab, 100_000);
  await settle(1, [tab]);
  expect(await found(folder)).toEqual([2, 3]);
  await settle(3, [tab]);
  expect(await found(folder)).toEqual([]);
  for (let seq = 4; seq <= 40; seq += 1) {
    await submit(tab, 100_000);
    await settle(seq - 1, [tab]);
  }
  expect(bytes()).toBeLessThan(2_500_000);
});

test('renumbered writes are found only under the new device id, whichever tab has kept them', async () => {
  const { folder, openTab, submit, settle, move } = await openCopy();
  const devices = async () =>
    (await foundWrites(folder)).map(({ device, item }) => `${device} ${item.seq}`);
  const [one, other, third] = [await openTab(), await openTab(), await openTab()];
  await submit(other);
  await submit(one);
  await submit(third);
  await third.close();
  move('bb');
  expect(await devices()).toEqual(['aa 1', 'aa 2', 'aa 3']);
  // One tab has moved the writes: their second copies in the files of the other tabs are obsolete.
  await settle(0, [one]);
  expect(await devices()).toEqual(['bb 1', 'bb 2', 'bb 3']);
  await settle(1, [one, other]);
  await submit(other);
  expect(await devices()).toEqual(['bb 1', 'bb 2', 'bb 3', 'bb 4']);
  await settle(4, [other, one]);
  expect(await devices()).toEqual([]);
  await other.close();
  await one.close();
  await settle(4, [await openTab()]);
  expect([...folder.files.values()].filter(({ bytes }) => bytes.length > 0)).toEqual([]);
});

test('a kill while writes are moved to a new device id leaves all of them under one id', async () => {
  const ways = new Set<string>();
  for (let kill = 1; kill <= 6; kill += 1) {
    const { folder, openTab, submit, settle, move } = await openCopy();
    const tab = await openTab();
    await submit(tab);
    await submit(tab);
    move('bb');
    let calls = 0;
    for (const file of folder.files.values())
      file.beforeChange = () => {
        calls += 1;
        if (calls >= kill) throw new Error('killed');
      };
    await settle(0, [tab]).catch(() => undefined);
    ways.add((await foundWrites(folder)).map(({ device, item }) => device + item.seq).join(' '));
  }
  expect([...ways]).toEqual(['aa1 aa2', 'bb1 bb2']);
});

test('a database reset to before its writes were renumbered recovers later writes too', async () => {
  const { folder, recovered, openTab, submit, settle, move, revert, state } = await openCopy();
  const tab = await openTab();
  for (let seq = 1; seq <= 2; seq += 1) await submit(tab);
  const before = state();
  move('bb');
  await settle(0, [tab]);
  await submit(tab);
  await tab.close();
  revert(before);
  const next = await openTab();
  expect(recovered).toEqual(['undefined 1', 'undefined 2', 'undefined 3']);
  // Each write has its second copy, under its present number.
  await settle(0, [next]);
  expect((await foundWrites(folder)).map(({ device, item }) => device + item.seq)).toEqual([
    'aa1',
    'aa2',
  ]);
});

test('a kill between the renumbering of writes and of their second copies loses no write', async () => {
  const { recovered, openTab, submit, move, revert } = await openCopy();
  const tab = await openTab();
  for (let seq = 1; seq <= 2; seq += 1) await submit(tab);
  move('bb');
  await submit(tab);
  await tab.close();
  revert({ device: 'bb', lastSeq: 0, settledSeq: 0, actor: ADA });
  await openTab();
  expect(recovered).toEqual(['bb 3', 'undefined 1', 'undefined 2']);
});

test('writes of a lost copy are recovered by the next copy of the same user, and by no other user', async () => {
  const { recovered, openTab, submit, revert } = await openCopy();
  const tab = await openTab();
  await submit(tab);
  await tab.close();
  const empty = { lastSeq: 0, settledSeq: 0 };
  // A hub that has forgotten the device gives its id to any user.
  for (const device of ['aa', 'cc']) {
    revert({ ...empty, device, actor: userOf('2') });
    await (await openTab()).close();
  }
  expect(recovered).toEqual([]);
  revert({ ...empty, device: 'dd', actor: { ...ADA, role: 'client' } });
  await openTab();
  expect(recovered).toEqual(['undefined 1']);
});

test('renumbered writes are removed once all have verdicts', async () => {
  const { folder, openTab, submit, settle, move } = await openCopy();
  const tab = await openTab();
  await submit(tab);
  move('bb');
  await settle(0, [tab]);
  expect(await found(folder)).toEqual([1]);
  await settle(1, [tab]);
  expect(await found(folder)).toEqual([]);
});

test('a kill before any file operation loses no write without a verdict', async () => {
  for (let kill = 1; kill <= 60; kill += 1) {
    const { folder, openTab, submit, settle, state } = await openCopy();
    const tab = await openTab();
    let calls = 0;
    for (const file of folder.files.values())
      file.beforeChange = () => {
        calls += 1;
        if (calls >= kill) throw new Error('killed');
      };
    let kept = 0;
    const run = async (): Promise<void> => {
      for (let seq = 1; seq <= 14; seq += 1) {
        await submit(tab, 300_000);
        kept = seq;
        await settle(seq - (seq % 7 === 0 ? 0 : 2), [tab]);
      }
    };
    await run().catch(() => undefined);
    const there = await found(folder);
    expect(there).toEqual(expect.arrayContaining(numbers(state().settledSeq + 1, kept)));
    expect(there).toEqual(numbers(there[0] ?? 1, kept).slice(0, there.length));
  }
});

test('full files are truncated too', async () => {
  const { folder, openTab, submit, settle } = await openCopy();
  const tab = await openTab();
  await submit(tab);
  for (const file of folder.files.values()) file.room = 0;
  await settle(1, [tab]);
  for (const file of folder.files.values()) file.room = Infinity;
  await submit(tab);
  expect(await found(folder)).toEqual([2]);
});

test('writes without a verdict keep their second copy through page reloads', async () => {
  const { folder, openTab, submit, settle } = await openCopy();
  for (let load = 1; load <= 3; load += 1) {
    const tab = await openTab();
    await submit(tab);
    await tab.close();
  }
  const tab = await openTab();
  await settle(2, [tab]);
  expect(await found(folder)).toContain(3);
  await settle(3, [tab]);
  expect(await found(folder)).toEqual([]);
});

test('files of closed tabs stay if there is no space to copy their writes', async () => {
  const { folder, replica, openTab, submit, state } = await openCopy();
  const before = await openTab();
  await submit(before);
  await before.close();
  const getFileHandle = folder.getFileHandle.bind(folder);
  vi.spyOn(folder, 'getFileHandle').mockImplementation(async (name) =>
    Object.assign(await getFileHandle(name), { room: 0 }),
  );
  const reasons: unknown[] = [];
  const report = (reason: unknown) => reasons.push(reason);
  const tab = new SecondCopy({ name: 'notes', replica, report, durability: 'relaxed' });
  await tab.recover(state() as ReplicaState);
  await tab.reconcile();
  expect(reasons).toHaveLength(1);
  expect(await found(folder)).toEqual([1]);
});

test('a write made while its tab had no file is in the next file of the tab', async () => {
  const { folder, openTab, submit } = await openCopy();
  const tab = await openTab();
  await submit(tab);
  // Sync is stopped, and starts again.
  await tab.close();
  await submit(tab);
  const next = await openTab();
  await submit(next);
  expect(await found(folder)).toEqual([1, 2, 3]);
});

test('renumbered writes are not found under their former numbers, even if an old file could not be deleted', async () => {
  const { folder, openTab, submit, settle, move } = await openCopy();
  const [one, killed] = [await openTab(), await openTab()];
  await submit(killed);
  await killed.close();
  move('bb');
  // The tab moves the writes, but cannot delete the second copies of the other tab.
  const remove = vi.spyOn(folder, 'removeEntry').mockRejectedValue(new Error('open'));
  await settle(0, [one]);
  remove.mockRestore();
  await submit(one);
  await settle(2, [one]);
  expect((await foundWrites(folder)).map(({ device }) => device)).toEqual([]);
});
