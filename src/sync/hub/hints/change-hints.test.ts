import { expect, onTestFinished, test, vi } from 'vitest';
import { documentKey } from '../../../codec/key.ts';
import type { CommitNotice } from '../../../engine/host.ts';
import { coll, create, doc, obj } from '../../../engine/testing/engine-world.ts';
import type { ChangeHint } from '../../protocol/hints.ts';
import { NATIVE } from '../../../values/native-kinds.ts';
import type { PullOutcome } from '../pull/pull.ts';
import { NO_SCOPE } from '../rights/scope.ts';
import { deviceAddress } from '../rows/device-rows.ts';
import { BoundedMemory, MEMORY_CHARS } from './bounded-memory.ts';
import { ChangeHints } from './change-hints.ts';
import { HintSender } from './hint-sender.ts';
import { accepted, wire, type Device, type HubWorld } from '../../testing/hub-world.ts';
import { lambda, openThings, reads, role, THINGS } from '../../testing/things.ts';

async function open(pause?: () => Promise<void>) {
  const world = await openThings({ pause });
  await world.ask({ create_collection: obj({ name: 'others' }) });
  await world.ask({
    create_index: obj({
      name: 'by_kind',
      source: coll('things'),
      terms: [obj({ field: ['data', 'kind'] })],
    }),
  });
  return world;
}

async function listen(world: HubWorld, device: Device) {
  const pokes: ChangeHint[] = [];
  const subscription = accepted(
    await world.sync.subscribe(device.secret, device.id, (poke) => pokes.push(poke)),
  );
  const sent = vi.spyOn(HintSender.prototype, 'send');
  onTestFinished(() => sent.mockRestore());
  /** Number of hints since the last call. Their pulls are evaluated later. */
  const heard = async (): Promise<number> => {
    await Promise.resolve();
    return sent.mock.calls.splice(0).length;
  };
  return { subscription, heard, pokes };
}

/** A hub, and a device with one set that listens to it. */
async function listening() {
  const world = await open();
  const device = (await world.device()).watch(THINGS);
  return { world, device, ...(await listen(world, device)) };
}

test('a device gets a hint when a commit touches one of its sets, and none for other commits', async () => {
  const { world, device, heard, subscription } = await listening();
  await device.pull();
  await world.ask(create(doc('things', 1), { kind: 'a' }));
  expect(await heard()).toBe(1);
  await world.ask(create(doc('others', 1)));
  expect(await heard()).toBe(0);
  await world.ask({ delete: doc('things', 1) });
  expect(await heard()).toBe(1);
  subscription.close();
  await world.ask(create(doc('things', 2)));
  expect(await heard()).toBe(0);
});

test('a set that is an index match gets a hint only when its entries change', async () => {
  const world = await open();
  const device = (await world.device()).watch({ match: { index: 'by_kind' }, terms: 'a' });
  const { heard } = await listen(world, device);
  await device.pull();
  await world.ask(create(doc('things', 1), { kind: 'b' }));
  expect(await heard()).toBe(0);
  await world.ask({ update: doc('things', 1), params: obj({ data: obj({ kind: 'a' }) }) });
  expect(await heard()).toBe(1);
  await world.ask({ update: doc('things', 1), params: obj({ data: obj({ kind: 'b' }) }) });
  expect(await heard()).toBe(1);
});

test('a device gets a hint when a document that its rights depend on, the schema or its own token changes', async () => {
  const world = await open();
  const team = (of: unknown) => ({ select: ['data', 'team'], from: { get: of }, default: 0 });
  const same = { equals: [team({ var: 'ref' }), team({ identity: null })] };
  await world.ask(role(reads(coll('things'), lambda(same))));
  await world.ask(create(doc('things', 1), { team: 1 }));
  const device = (await world.device(await world.user(1, { team: 1 }))).watch(THINGS);
  const { heard, subscription } = await listen(world, device);
  await device.pull();
  await world.ask({ update: doc('users', 1), params: obj({ data: obj({ team: 2 }) }) });
  expect(await heard()).toBe(1);
  await world.ask({ create_collection: obj({ name: 'new' }) });
  expect(await heard()).toBe(1);
  expect(await subscription.refusal()).toBeUndefined();
  await world.login(1);
  expect(await heard()).toBe(0);
  await world.ask({ logout: true }, { secret: device.secret });
  expect(await heard()).toBe(1);
  expect(await subscription.refusal()).toMatchObject({ code: 'locked' });
});

test('a device that has not pulled from this process gets a hint for any commit except the hello of another device', async () => {
  const world = await open();
  const device = await world.device();
  const { heard } = await listen(world, device);
  await world.ask(create(doc('others', 1)));
  expect(await heard()).toBe(1);
  await (await world.device()).hello();
  expect(await heard()).toBe(0);
});

test('subscribe() refuses another user, a malformed device id and an unknown secret', async () => {
  const world = await open();
  const device = await world.device(await world.user(1));
  const other = await world.user(2);
  const subscribe = (secret: string, id: unknown) =>
    world.sync.subscribe(secret, id, () => undefined);
  expect(await subscribe(other, device.id)).toMatchObject({ code: 'device_taken' });
  expect(await subscribe(device.secret, 'x')).toMatchObject({ code: 'bad_message' });
  expect(await subscribe('nobody', device.id)).toMatchObject({ code: 'needs_login' });
});

test('after a device has pulled, each hint contains its next pull, from the cursor of the last one', async () => {
  const { world, device, pokes } = await listening();
  await device.pull();
  const stood = device.cursor;
  await world.ask(create(doc('things', 1), { kind: 'a' }));
  await expect.poll(() => pokes).toHaveLength(1);
  const [first] = pokes;
  expect(first?.brought?.since).toBe(stood);
  expect(first?.brought?.pulled.puts.map(([, id]) => id)).toEqual(['1']);
  // The device is assumed to have applied the pull of the hint, so the next one continues from there.
  await world.ask(create(doc('things', 2), { kind: 'a' }));
  await expect.poll(() => pokes).toHaveLength(2);
  expect(pokes[1]?.brought?.since).toBe(first?.brought?.pulled.cursor);
  expect(pokes[1]?.brought?.pulled.puts.map(([, id]) => id)).toEqual(['2']);
});

test('all streams of a device get a hint, also if one of them got it in an earlier turn', async () => {
  const turns: (() => void)[] = [];
  const world = await open(() => new Promise((resolve) => turns.push(resolve)));
  // Together with the first stream of the device, they fill a turn.
  const other = await world.device();
  for (let i = 1; i < 64; i++) await listen(world, other);
  const device = (await world.device()).watch(THINGS);
  const streams = [await listen(world, device), await listen(world, device)];
  await device.pull();
  await world.ask(create(doc('things', 1)));
  const told = (first: number, second: number) =>
    vi.waitFor(
      () => expect(streams.map(({ pokes }) => pokes.length)).toEqual([first, second]),
      20_000,
    );
  await told(1, 0);
  turns.shift()?.();
  await told(1, 1);
});

test('a pull that is too large is left out of the hint, and the device pulls itself', async () => {
  const { world, device, pokes } = await listening();
  await device.pull();
  const text = 'x'.repeat(40_000);
  const both = [1, 2].map((id) => create(doc('things', id), { text }));
  await world.ask({ do: both });
  await expect.poll(() => pokes).toHaveLength(1);
  expect(pokes[0]?.brought).toBeUndefined();
  await device.pull();
  expect([...device.documents.keys()]).toHaveLength(2);
});

test('the answer to a push contains the next pull, and later hints continue from its cursor', async () => {
  const { world, device, pokes } = await listening();
  await device.pull();
  const stood = device.cursor;
  const { brought, verdicts } = await device.push(device.item({ query: create(doc('things', 1)) }));
  expect(brought?.since).toBe(stood);
  expect(brought?.pulled.puts.map(([, id]) => id)).toEqual(['1']);
  expect(brought?.pulled.verdicts).toEqual(verdicts);
  expect(pokes).toEqual([]);
  await world.ask(create(doc('things', 2)));
  await expect.poll(() => pokes).toHaveLength(1);
  expect(pokes[0]?.brought?.since).toBe(brought?.pulled.cursor);
});

test('a device that must pull after its push gets no hint before that pull', async () => {
  const { world, device, pokes } = await listening();
  await device.pull();
  const text = 'x'.repeat(70_000);
  const pushed = await device.push(device.item({ query: create(doc('things', 1), { text }) }));
  expect(pushed.brought).toBeUndefined();
  await world.ask(create(doc('things', 2)));
  await device.pull();
  expect([...device.documents.keys()]).toHaveLength(2);
  expect(pokes).toEqual([]);
  await world.ask(create(doc('things', 3)));
  await expect.poll(() => pokes).toHaveLength(1);
});

/** Another process of the hub, over the same data. */
function besides(world: HubWorld) {
  const hub = world.beside();
  return async (device: Device): Promise<void> =>
    device.take(accepted(await hub.pull(device.secret, wire(device.pullMessage()))));
}

test('a device that pulls from another process after its push gets hints about commits of others', async () => {
  const { world, device, pokes } = await listening();
  const pullElsewhere = besides(world);
  await pullElsewhere(device);
  await device.push(device.item({ query: create(doc('things', 1)) }));
  await pullElsewhere(device);
  expect(pokes).toEqual([]);
  await world.ask(create(doc('things', 2)));
  await expect.poll(() => pokes).toHaveLength(1);
});

test('a device expected to pull here that pulled from another process gets its hint at the next heartbeat', async () => {
  const { world, device, pokes, subscription } = await listening();
  const pullElsewhere = besides(world);
  await device.pull();
  const text = 'x'.repeat(70_000);
  await device.push(device.item({ query: create(doc('things', 1), { text }) }));
  await pullElsewhere(device);
  await world.ask(create(doc('things', 2)));
  expect(pokes).toEqual([]);
  expect(await subscription.refusal()).toBeUndefined();
  await expect.poll(() => pokes).toHaveLength(1);
});

test('hints contain pulls for a device whose last pull another hub made on behalf of this one', async () => {
  const world = await open();
  const other = world.beside();
  const device = (await world.device()).watch(THINGS);
  const { pokes } = await listen(world, device);
  await device.push(device.item({ query: create(doc('things', 1)) }));
  const message = wire(device.pullMessage());
  const { pulled, read } = accepted(await other.pullForOther(device.secret, message));
  // Cloned, as if it came from a thread.
  world.sync.onPulledElsewhere(device.secret, message, structuredClone(read));
  device.take(pulled);
  await world.ask(create(doc('things', 2)));
  await expect.poll(() => pokes).toHaveLength(1);
  expect(pokes[0]?.brought?.pulled.puts.map(([, id]) => id)).toEqual(['2']);
  other.close();
});

test('a device that pulled other sets from another process before it listens gets hints about those sets', async () => {
  const world = await open();
  const pullElsewhere = besides(world);
  const device = (await world.device()).watch(THINGS);
  await device.pull();
  device.watch(THINGS, { documents: coll('others') });
  await pullElsewhere(device);
  const { pokes } = await listen(world, device);
  await pullElsewhere(device);
  await world.ask(create(doc('others', 1)));
  await expect.poll(() => pokes).toHaveLength(1);
});

test('a device that pulls other sets from another process while it listens gets hints about those sets', async () => {
  const { world, device, pokes } = await listening();
  const pullElsewhere = besides(world);
  await device.pull();
  device.watch(THINGS, { documents: coll('others') });
  await pullElsewhere(device);
  await world.ask(create(doc('others', 1)));
  await expect.poll(() => pokes).toHaveLength(1);
  // The last pull here had other sets than the device would request now.
  expect(pokes[0]?.brought).toBeUndefined();
});

test('if a pull at another process resolves a set to other parts, the device gets hints about those parts', async () => {
  const world = await open();
  const pullElsewhere = besides(world);
  await world.ask(create(doc('others', 1), { kind: 'a' }));
  const kind = { select: ['data', 'kind'], from: { get: doc('others', 1) } };
  const device = (await world.device()).watch({ match: { index: 'by_kind' }, terms: kind });
  const { heard } = await listen(world, device);
  await device.pull();
  // After this answer the device pulls again without a hint, so no pull is evaluated for one.
  await device.pullOnce([[1025, '1']]);
  await heard();
  await world.ask({ update: doc('others', 1), params: obj({ data: obj({ kind: 'b' }) }) });
  expect(await heard()).toBe(1);
  await pullElsewhere(device);
  await heard();
  await world.ask(create(doc('things', 1), { kind: 'b' }));
  expect(await heard()).toBe(1);
});

test('if a comparison finds that rights depend on more documents, the device gets hints about these, too', async () => {
  const world = await open();
  const isLead = {
    equals: [{ select: ['data', 'lead'], from: { get: TEAM } }, { identity: null }],
  };
  await world.ask(role(reads(coll('things'), lambda(isLead))));
  for (const id of [1, 2]) await world.ask(create(doc('others', id), {}));
  await world.ask(create(doc('things', 1)));
  const device = (await world.device(await world.user(1, { team: '1' }))).watch(THINGS);
  const { pokes } = await listen(world, device);
  await device.pull();
  await world.ask({ update: doc('users', 1), params: obj({ data: obj({ team: '2' }) }) });
  await expect.poll(() => pokes).toHaveLength(1);
  await device.pull();
  expect(device.mustCheck).toBe(true);
  await device.check();
  const lead = obj({ lead: doc('users', 1) });
  await world.ask({ update: doc('others', 2), params: obj({ data: lead }) });
  await expect.poll(() => pokes).toHaveLength(2);
});

/** The document to which the caller's own document refers. */
const TEAM = {
  ref: coll('others'),
  id: { select: ['data', 'team'], from: { get: { identity: null } } },
};

test('a push over one stream of a device causes a hint on its other stream', async () => {
  const world = await open(() => Promise.resolve());
  const device = (await world.device()).watch(THINGS);
  const first = await listen(world, device);
  const other = await listen(world, device);
  await device.pull();
  first.pokes.length = other.pokes.length = 0;
  await device.push(device.item({ query: create(coll('things')) }));
  await vi.waitFor(() => expect(other.pokes).toHaveLength(1));
});

test('the known rights of a device are dropped by a commit that changes its token or its device record', async () => {
  const hints = new ChangeHints();
  const { listener, own, stand, know } = known(hints);
  hints.listen(listener);
  stand();
  hints.onCommit(commit(1, 2, [{ space: 'documents', key: documentKey(0, 1030, 1n) }]));
  expect(know()).toEqual(RIGHTS);
  hints.onCommit(commit(2, 3, [{ space: 'documents', key: own }]));
  expect(know()).toBeUndefined();
  stand();
  hints.onCommit(commit(3, 4, [{ space: 'sync', key: deviceAddress(0, listener.device).key }]));
  expect(know()).toBeUndefined();
});

test('after a gap in the commit notices, every device gets a hint, and hasSeenAll() is false', () => {
  const hints = new ChangeHints();
  const { listener, stand, know, heard } = known(hints);
  hints.listen(listener);
  stand();
  hints.onCommit(commit(1, 2, []));
  hints.onCommit(commit(2, 3, []));
  expect(hints.hasSeenAll(1, 3)).toBe(true);
  expect(hints.hasSeenAll(1, 4)).toBe(false);
  expect(heard).toEqual([]);
  hints.onCommit(commit(9, 9, []));
  expect(hints.hasSeenAll(1, 9)).toBe(false);
  expect(heard).toEqual([{ head: 9 }]);
  expect(know()).toBeUndefined();
});

test('after the store was set back, a device gets a hint even if its cursor is that of a lost commit', async () => {
  const lost = await listening();
  await lost.device.pull();
  const { cursor = 0 } = lost.device;
  const hints = lost.world.sync['hints'];
  hints.onCommit({ previous: cursor - 5, ts: cursor - 5, rows: [], entries: [] });
  await expect.poll(() => lost.pokes).toEqual([{ head: cursor - 5 }]);
});

test('the memory about devices is bounded by size: a device that was dropped gets a hint for any commit', () => {
  const hints = new ChangeHints();
  const worlds = Array.from({ length: 25 }, (_, i) => known(hints, i + 1));
  for (const { listener, stand } of worlds) {
    hints.listen(listener);
    stand('x'.repeat(1_000_000));
  }
  const [first] = worlds;
  const last = worlds.at(-1);
  expect([first?.know(), last?.know()]).toEqual([undefined, RIGHTS]);
  hints.onCommit(commit(1, 2, [{ space: 'documents', key: documentKey(0, 1030, 1n) }]));
  expect([first?.heard, last?.heard]).toEqual([[{ head: 2 }], []]);
  // The device is remembered again after its next pull. A device whose data exceeds the memory is not.
  first?.stand('x');
  expect(first?.know()).toEqual(RIGHTS);
  last?.stand('x'.repeat(MEMORY_CHARS));
  expect(last?.know()).toBeUndefined();
});

test('BoundedMemory keeps the newest entries up to a number of characters', () => {
  const memory = new BoundedMemory<number>();
  for (let i = 1; i <= 100; i += 1) {
    memory.set(String(i), i, 1_000_000);
    memory.set(String(i), i, 900_000);
    expect(memory.chars).toBeLessThanOrEqual(MEMORY_CHARS);
  }
  expect([memory.get('78'), memory.get('79'), memory.get('100')]).toEqual([undefined, 79, 100]);
  memory.replace('100', 0);
  memory.replace('1', 0);
  expect([memory.get('1'), memory.get('100')]).toEqual([undefined, 0]);
  for (let i = 79; i <= 100; i += 1) memory.delete(String(i));
  expect(memory.chars).toBe(0);
});

test('when a device stops listening, its expected pull is dropped', () => {
  const hints = new ChangeHints();
  const { listener, stand } = known(hints);
  const stop = hints.listen(listener);
  stand();
  expect(hints.standing(listener)).toMatchObject({ next: { cursor: 1 }, secret: 'secret' });
  stop();
  expect(hints.standing(listener)).toBeUndefined();
  stand();
  hints.listen(listener);
  expect(hints.standing(listener)).toBeUndefined();
});

const commit = (previous: number, ts: number, rows: CommitNotice['rows']): CommitNotice => ({
  previous,
  ts,
  rows,
  entries: [],
});

/** A device that listens, has no sets, and has pulled everything. */
const RIGHTS = { name: '', until: Infinity };

/** A device, and what the hub knows of it after its pull. */
function known(hints: ChangeHints, number = 1) {
  const heard: ChangeHint[] = [];
  const own = documentKey(0, NATIVE.tokens, 7n);
  const onHint = (hint: ChangeHint): unknown => heard.push(hint);
  const device = String(number).padStart(32, '0');
  const listener = { database: 0, device, own: [own], onHint };
  const asked = { device, epoch: 'e', cursor: 0, token: undefined, schema: undefined };
  const actor = { database: [], identity: undefined, role: 'admin' as const, roles: [] };
  const pulled = { epoch: 'e', cursor: 1, more: false, lastSeq: 0, verdicts: [], actor };
  const empty = { schema: undefined, puts: [], leaves: [], sets: [], check: false };
  const rights = { scope: NO_SCOPE, before: NO_SCOPE, sharedRights: RIGHTS };
  const stand = (query?: string) => {
    const asks = query === undefined ? [] : [{ id: query, query, parts: [], loaded: [] }];
    const message = { ...asked, sets: asks, refetch: [], settled: 0, maxBytes: 9 };
    const range = { by: 'key' as const, lower: query ?? '', upper: query ?? '' };
    const part = { part: { kind: 'collection' as const, collection: 1025 }, range };
    const sets = asks.map(({ id }) => ({ id, parts: [part] }));
    const outcome = { pulled: { ...pulled, ...empty }, database: 0, sets, ...rights };
    return hints.onPull(message, outcome as unknown as PullOutcome, 'secret');
  };
  return { listener, own, heard, stand, know: () => hints.standing(listener)?.sharedRights };
}
