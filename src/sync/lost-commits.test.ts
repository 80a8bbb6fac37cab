/** A hub loses its latest commits but keeps its epoch, as after its disk was set back. Devices that have seen them notice, and converge. */
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../store/memory.ts';
import type { SyncState } from '../states.ts';
import type { Signal } from './device/syncer/signal.ts';
import { Syncer } from './device/syncer/syncer.ts';
import { requestsBy, requireAnswer, type Transport } from './device/syncer/transport.ts';
import { ANSWERS, SYNC_PROTOCOL } from './protocol/messages.ts';
import { isSyncRefusal } from './protocol/refusals.ts';
import { DeviceWorld } from './testing/device-world.ts';
import { HubWorld, wire } from './testing/hub-world.ts';
import { createNote, notes, notesPage } from './testing/note-worlds.ts';

const DEVICE = 'd'.repeat(32);

/** Short pauses end at once, long ones when a signal is raised. */
const wait = (ms: number, signal: Signal): Promise<void> =>
  new Promise((resolve) => {
    if (ms < 10_000) resolve();
    else signal.onRaised(resolve);
  });

const sorted = (page: unknown) => (page as { data: number[] }).data.toSorted((a, b) => a - b);

async function openWorlds() {
  const memory = new SharedMemory();
  let hub = await HubWorld.open(createMemoryStore(memory));
  await hub.ask({ create_collection: { object: { name: 'notes' } } });
  const { version: unmet } = memory;
  let hubAsked = (): HubWorld => hub;
  let mayCompare: Promise<void> | undefined;
  const transport: Transport = {
    ...requestsBy(async (name, message) => {
      if (name === 'check') await mayCompare;
      const answer = await hubAsked().sync[name](ROOT, wire(message));
      return isSyncRefusal(answer)
        ? { ok: false, refusal: answer }
        : { ok: true, value: ANSWERS[name](wire(answer), name) };
    }),
    listen: () => () => undefined,
  };
  const device = new DeviceWorld();
  const { replica } = device;
  const greeting = { protocol: SYNC_PROTOCOL, device: DEVICE, epoch: undefined, lastSeq: 0 };
  await replica.adopt('hub', requireAnswer(await transport.hello(greeting)), DEVICE);
  await replica.setSets([{ id: 'notes', query: JSON.stringify({ documents: notes }) }]);
  const states: [SyncState, string | undefined][] = [];
  let rounds = 0;
  const syncer = new Syncer({
    replica,
    transport,
    clock: () => device.now,
    wallClock: () => Date.now(),
    random: () => 0.5,
    wait,
    events: {
      onState: (state, reason) => states.push([state, reason?.description]),
      onVerdict: () => undefined,
      onFiles: () => undefined,
      onProgress: () => undefined,
      onRound: (_, __, isWhole) => {
        if (isWhole) rounds += 1;
      },
      onSuperseded: () => undefined,
      onFault: () => undefined,
    },
  });
  syncer.start();
  onTestFinished(() => syncer.stop());
  const synced = async (): Promise<void> => {
    const before = rounds;
    syncer.kick();
    await expect.poll(() => rounds > before && syncer.state === 'live').toBe(true);
  };
  /** Restarts the hub with an earlier state of its store. */
  const goBackTo = async (version: SharedMemory['version']): Promise<void> => {
    const { now } = hub;
    memory.version = version;
    hub = await HubWorld.open(createMemoryStore(memory));
    hub.now = now;
  };
  /** Sets the store back under the running hub, as if a standby that lagged had become the primary. */
  const failOverTo = (version: SharedMemory['version']): void => {
    memory.version = version;
  };
  let asked = 0;
  /** Sends some of the requests, in an irregular order, to a second hub with this state of the store. */
  const spreadTo = async (version: SharedMemory['version']): Promise<void> => {
    const other = new SharedMemory();
    other.version = version;
    const lagging = await HubWorld.open(createMemoryStore(other));
    lagging.now = hub.now;
    hubAsked = () => ((asked += 1) % 5 < 2 ? lagging : hub);
  };
  const contacts = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const before = asked;
      syncer.kick();
      await expect.poll(() => asked).toBeGreaterThan(before);
    }
  };
  return {
    memory,
    unmet,
    device,
    spreadTo,
    contacts,
    joinAgain: () => (hubAsked = () => hub),
    states,
    synced,
    /** Holds comparisons until the returned function is called. */
    holdComparisons: () => {
      let compare = (): void => undefined;
      mayCompare = new Promise((resolve) => (compare = resolve));
      return () => compare();
    },
    goBackTo,
    failOverTo,
    atHub: (query: unknown) => hub.ask(query),
    /** Another device sends hello. */
    greet: async () =>
      requireAnswer(await transport.hello({ ...greeting, device: 'e'.repeat(32) })),
    /** The device and the hub have notes with these numbers only. */
    expectNotes: async (...numbers: readonly number[]) => {
      expect(sorted(await device.see(notesPage))).toEqual(numbers);
      expect(sorted(await hub.ask(notesPage))).toEqual(numbers);
    },
  };
}

test('lost commits disappear from the copy, the device’s own writes stay, and the reason is reported', async () => {
  const { memory, device, states, synced, goBackTo, atHub, expectNotes } = await openWorlds();
  await synced();
  await device.submit(createNote(1));
  await synced();
  const { version } = memory;
  await atHub(createNote(2));
  await synced();
  await goBackTo(version);
  await synced();
  await expectNotes(1);
  expect(states).toContainEqual(['offline', expect.stringContaining('The hub has lost commits')]);
});

test('no answer of a copy is complete before its comparison with a hub that has lost commits', async () => {
  const { memory, device, states, synced, holdComparisons, goBackTo, atHub } = await openWorlds();
  await atHub(createNote(1));
  await synced();
  const { version } = memory;
  await atHub(createNote(2));
  await synced();
  const read = () => device.replica.read({ query: JSON.stringify(notesPage), apiVersion: '4' });
  expect((await read()).missing).toEqual([]);
  const compare = holdComparisons();
  await goBackTo(version);
  const comparing = synced();
  await expect.poll(() => states.some(([, reason]) => reason?.includes('lost commits'))).toBe(true);
  await expect.poll(async () => (await read()).missing).toEqual([{ collection: 'notes' }]);
  await expect.poll(async () => (await device.replica.state())?.cursor).toBeDefined();
  expect((await read()).missing).toEqual([{ collection: 'notes' }]);
  compare();
  await comparing;
  expect((await read()).missing).toEqual([]);
});

test('a write of the device that the hub has lost is made again, once', async () => {
  const { memory, device, synced, goBackTo, atHub, expectNotes } = await openWorlds();
  await atHub(createNote(1));
  await synced();
  const { version } = memory;
  await device.submit(createNote(2));
  await atHub(createNote(3));
  await synced();
  await goBackTo(version);
  await synced();
  await expectNotes(1, 2);
  expect((await device.replica.writes()).map(({ state }) => state)).toEqual(['confirmed']);
});

test('lost commits are noticed without a hello, even if others have written since', async () => {
  const { memory, synced, goBackTo, atHub, expectNotes } = await openWorlds();
  await atHub(createNote(1));
  await synced();
  const { version } = memory;
  await atHub(createNote(2));
  await synced();
  await goBackTo(version);
  await atHub(createNote(3));
  await synced();
  await expectNotes(1, 3);
});

test('lost writes are sent again, even if others have written since', async () => {
  const { memory, device, synced, goBackTo, atHub, expectNotes } = await openWorlds();
  await atHub(createNote(1));
  await synced();
  const { version } = memory;
  await device.submit(createNote(2));
  await synced();
  await goBackTo(version);
  await atHub(createNote(3));
  await synced();
  await expectNotes(1, 2, 3);
});

test('a device unknown to a restored hub sends its writes again', async () => {
  const { unmet, device, synced, goBackTo, expectNotes } = await openWorlds();
  await synced();
  await device.submit(createNote(1));
  await synced();
  await goBackTo(unmet);
  await synced();
  await expectNotes(1);
});

test('lost commits are noticed by a device that returns after a second restart of the hub (S12, F24)', async () => {
  const { memory, synced, goBackTo, atHub, greet, expectNotes } = await openWorlds();
  await atHub(createNote(1));
  await synced();
  const { version } = memory;
  await atHub(createNote(2));
  await synced();
  await goBackTo(version);
  await atHub(createNote(3));
  await greet();
  await goBackTo(memory.version);
  await atHub(createNote(4));
  await synced();
  await expectNotes(1, 3, 4);
});

test('lost commits are noticed if the hub was running while its database was set back', async () => {
  const { memory, synced, failOverTo, atHub, expectNotes } = await openWorlds();
  await atHub(createNote(1));
  await synced();
  const { version } = memory;
  await atHub(createNote(2));
  await synced();
  failOverTo(version);
  await atHub(createNote(3));
  await synced();
  await expectNotes(1, 3);
});

test('a hub with a lagging second process causes few new device ids, a reason, and no lost write', async () => {
  const { memory, device, states, synced, spreadTo, contacts, joinAgain, atHub, expectNotes } =
    await openWorlds();
  await synced();
  const { version } = memory;
  await device.submit(createNote(1));
  await atHub(createNote(2));
  await synced();
  await spreadTo(version);
  await contacts(60);
  const { era = 0 } = (await device.replica.state()) ?? {};
  expect(era).toBeLessThan(15);
  expect(states).toContainEqual(['offline', expect.stringContaining('at this address')]);
  await device.submit(createNote(3));
  joinAgain();
  await synced();
  await expectNotes(1, 2, 3);
});
