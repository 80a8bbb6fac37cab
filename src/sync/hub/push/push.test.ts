import { expect, test, vi } from 'vitest';
import { Refusal } from '../../../errors.ts';
import { sha256 } from '../../../engine/testing/sha256.ts';
import { documentKey } from '../../../codec/key.ts';
import { coll, create, doc, EngineWorld, obj, ROOT } from '../../../engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import type { Store } from '../../../store/port.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { DAY_MICROS } from '../../../values/time.ts';
import { deviceIdFrom, isIdMadeWith } from '../../protocol/device-ids.ts';
import { derivedIds, digestOf } from '../../protocol/digest.ts';
import { deviceIn, deviceRow } from '../rows/device-rows.ts';
import { count, ids, may, openThings, role, THINGS, THINGS_NUMBER } from '../../testing/things.ts';
import { accepted, Device, HubWorld, statesOf, wire } from '../../testing/hub-world.ts';

const item = (n: number) => create(doc('things', n), { n });

async function open(store?: Store): Promise<{ world: HubWorld; device: Device }> {
  const world = await openThings({ store });
  return { world, device: await world.device() };
}

test('S1 a write takes effect once, even if it is sent twice', async () => {
  const { world, device } = await open();
  const write = device.item({ query: create(coll('things'), { n: 1 }), ids: ['77'] });
  const first = await device.push(write);
  const again = await device.push(write);
  expect(again).toEqual(first);
  expect(first.verdicts).toMatchObject([{ seq: 1, hash: write.hash, state: 'confirmed' }]);
  expect(await count(world)).toBe(1);
  expect(await world.ask({ exists: doc('things', 77) })).toBe(true);
});

test('ids beyond those that a write carries are derived, so that the device knows them before it sends the write', async () => {
  const { world, device } = await open();
  const write = device.item({
    query: { do: [create(coll('things')), create(coll('things'))] },
    ids: ['77'],
  });
  await device.push(write);
  const more = derivedIds(write, device.idKey, sha256)(1);
  expect(await world.ask({ exists: doc('things', String(more)) })).toBe(true);
});

/** A device of a user who may create things, and choose their ids if `mayChoose`. */
async function creator(world: HubWorld, id: number, { mayChoose = false } = {}): Promise<Device> {
  const device = await world.device(await world.user(id));
  const privileges = may({ create: true, ...(mayChoose && { create_with_id: true }) });
  const membership = obj({
    resource: coll('users'),
    predicate: { query: { lambda: 'me', expr: { equals: [{ var: 'me' }, doc('users', id)] } } },
  });
  await world.ask({ create_role: obj({ name: `creator${id}`, privileges, membership }) });
  return device;
}

const newThing = create(coll('things'), { n: 1 });

test('T19 a write with an id that its device cannot have made needs create_with_id', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  const other = await creator(world, 2);
  const own = device.newId();
  const { verdicts } = await device.push(
    device.item({ query: newThing, ids: ['4242'] }),
    device.item({ query: newThing, ids: [other.newId()] }),
    device.item({ query: newThing, ids: [own] }),
    device.item({ query: { do: [newThing, newThing] }, ids: [device.newId(), '4243'] }),
    device.item({ query: newThing }),
  );
  expect(statesOf(verdicts)).toBe('refused refused confirmed refused confirmed');
  expect(verdicts[0]?.body).toContain('permission denied');
  expect(await world.ask({ exists: doc('things', own) })).toBe(true);
  expect(await world.ask({ exists: doc('things', 4242) })).toBe(false);
  const chooser = await creator(world, 3, { mayChoose: true });
  const chosen = await chooser.push(chooser.item({ query: newThing, ids: ['4242'] }));
  expect(chosen.verdicts[0]?.state).toBe('confirmed');
});

test('T19 an id made under another device id of the same person is accepted only with its own key', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  const second = await world.device(device.secret);
  const { idKey } = device;
  const other = await creator(world, 2);
  const forged = second.id + idKey.slice(second.id.length);
  const { verdicts } = await second.push(
    second.item({ query: newThing, ids: [device.newId()], idKey }),
    second.item({ query: newThing, ids: [device.newId()] }),
    second.item({ query: newThing, ids: [other.newId()], idKey: other.idKey }),
    second.item({ query: newThing, ids: [idWith(forged)], idKey: forged }),
    second.item({ query: newThing, ids: [idWith(FOREIGN)], idKey: FOREIGN }),
  );
  expect(statesOf(verdicts)).toBe('confirmed refused refused refused refused');
});

const FOREIGN = 'ab'.repeat(32);
const idWith = (key: string) =>
  String(deviceIdFrom(1_767_225_600_000_000, new Uint8Array(2), key, sha256));

test('two devices of a person never make the same id at the same time', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  const second = await world.device(device.secret);
  const made = [device, second].map((each) => Array.from({ length: 500 }, () => each.newId()));
  expect(new Set(made.flat()).size).toBe(1000);
});

test('T19 an id of a device stays valid after a restore from a backup made before its first hello', async () => {
  const memory = new SharedMemory();
  const { world } = await open(createMemoryStore(memory));
  const secret = await world.user(1);
  await world.ask(role(may({ create: true })));
  const backup = new SharedMemory();
  backup.version = memory.version;
  const device = await world.device(secret);
  const id = device.newId();
  const restored = await HubWorld.open(createMemoryStore(backup));
  restored.now = world.now + 1_000_000;
  const again = new Device(restored, secret, device.id);
  await again.hello();
  expect(again.idKey).toBe(device.idKey);
  const { verdicts } = await again.push(again.item({ query: newThing, ids: [id] }));
  expect(verdicts[0]?.state).toBe('confirmed');
});

test('T19 a push cannot probe which documents exist: taken and foreign ids are refused with the same error', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  const own = device.newId();
  await world.ask(create(doc('things', 4242), {}));
  await world.ask(create(doc('things', own), {}));
  const { verdicts } = await device.push(
    ...['4242', '4243', own].map((id) => device.item({ query: newThing, ids: [id] })),
  );
  expect(statesOf(verdicts)).toBe('refused refused refused');
  expect(new Set(verdicts.map(({ body }) => body)).size).toBe(1);
});

test('T19 no query finds out whether a document exists under an id that the device chose', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  const privileges = obj({ resource: coll('things'), actions: obj({ delete: true }) });
  const membership = obj({ resource: coll('users') });
  await world.ask({ create_role: obj({ name: 'deleter', privileges, membership }) });
  const own = device.newId();
  await world.ask(create(doc('things', 4242), {}));
  await world.ask(create(doc('things', own), {}));
  const made = { var: 'made' };
  const inThing = (then: unknown) => ({
    let: [{ made: { select: ['ref'], from: newThing } }],
    in: then,
  });
  const isAt = (id: string) => ({ equals: [{ select: ['id'], from: made }, id] });
  const probes: readonly ((id: string) => { query: unknown; ids: readonly string[] })[] = [
    (id) => ({ query: newThing, ids: [id, device.newId()] }),
    (id) => ({ query: inThing({ do: [{ delete: made }, made] }), ids: [id] }),
    (id) => ({
      query: inThing({ do: [{ delete: made }, { abort: { select: ['id'], from: made } }] }),
      ids: [id],
    }),
    // oxlint-disable-next-line unicorn/no-thenable -- a form of FQL
    (id) => ({ query: inThing({ if: isAt(id), then: { logout: false }, else: 1 }), ids: [id] }),
  ];
  for (const [i, probe] of probes.entries()) {
    const chosen = ['4242', '4243', ...(i > 0 ? [own] : [])];
    const { verdicts } = await device.push(...chosen.map((id) => device.item(probe(id))));
    expect(verdicts.every(({ state }) => state === 'refused')).toBe(true);
    expect(new Set(verdicts.map(({ body }) => body)).size, `probe ${i}`).toBe(1);
  }
  expect(await count(world)).toBe(2);
});

test('a write whose first id another tab of the device has used is made under its next id', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  const [both, next] = [device.newId(), device.newId()];
  const { verdicts } = await device.push(
    device.item({ query: newThing, ids: [both] }),
    device.item({ query: create(coll('things'), { n: 2 }), ids: [both, next] }),
  );
  expect(verdicts.map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
  expect(await world.ask({ exists: doc('things', next) })).toBe(true);
});

test('T19 a push cannot recreate a deleted user whose token still exists', async () => {
  const { world } = await open();
  const device = await world.device(await world.user(1));
  const token = await world.user(2);
  await world.ask({ delete: doc('users', 2) });
  await world.ask(role(may({ create: true }, coll('users'))));
  const write = device.item({ query: create(coll('users'), {}), ids: ['2'] });
  expect((await device.push(write)).verdicts[0]?.state).toBe('refused');
  expect(await world.engine.authenticate(token)).toBeUndefined();
});

test('T19 whitespace in a query does not influence the ids that the hub derives from it', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  for (let spaces = 0; spaces < 20; spaces++) {
    const query = { do: [{ concat: ' '.repeat(spaces) }, newThing] };
    const write = device.item({ query });
    await device.push(write);
    const id = derivedIds(write, device.idKey, sha256)(0);
    expect(isIdMadeWith(device.idKey, id, sha256)).toBe(true);
    expect(await world.ask({ exists: doc('things', String(id)) })).toBe(true);
  }
});

test('hello() refuses a device with an earlier protocol, and push() requires a new hello after an upgrade', async () => {
  const { world, device } = await open();
  const { sync } = world;
  const old = { ...device.helloMessage(), protocol: 1 };
  expect(await sync.hello(ROOT, wire(old))).toMatchObject({ code: 'upgrade_needed' });
  await world.engine.transactions.write(({ writer, head }) => {
    const { protocol: _, ...record } = deviceIn(writer, 0, device.id, 'root 0 in 0')!;
    writer.put('sync', deviceRow(0, device.id, record));
    return { value: undefined, ts: head + 1 };
  });
  const write = device.item({ query: item(1) });
  expect(await device.tryPush(write)).toMatchObject({ code: 'epoch_changed' });
  await device.hello();
  expect((await device.push(write)).verdicts[0]?.state).toBe('confirmed');
});

test('S1 writes sent by two tabs at once take effect once each', async () => {
  const { world, device } = await open();
  const writes = Array.from({ length: 40 }, (_, i) => device.item({ query: item(i + 1) }));
  const answers = await Promise.all([device.push(...writes), device.push(...writes)]);
  expect(answers[1].verdicts).toEqual(answers[0].verdicts);
  expect(await count(world)).toBe(40);
});

test('S2 a push with a gap in its numbers is refused, and none of its writes run', async () => {
  const { world, device } = await open();
  device.item({ query: item(1) });
  const second = device.item({ query: item(2) });
  expect(await device.tryPush(second)).toMatchObject({ code: 'gap' });
  expect(await count(world)).toBe(0);
});

test('T20 another write under a used number is client_forked', async () => {
  const { world, device } = await open();
  await device.push(device.item({ query: item(1) }));
  device.seq = 0;
  const other = device.item({ query: item(2) });
  expect(await device.tryPush(other)).toMatchObject({ code: 'client_forked' });
  expect(await count(world)).toBe(1);
});

test('T20 a write that does not match its hash is a bad_message', async () => {
  const { device } = await open();
  const write = device.item({ query: item(1) });
  const changed = { ...write, now: write.now + 1 };
  expect(await device.tryPush(changed)).toMatchObject({ code: 'bad_message' });
});

test('S5 a write that fails is refused with its error, and the writes after it run', async () => {
  const { world, device } = await open();
  const { verdicts } = await device.push(
    device.item({ query: item(1) }),
    device.item({ query: { update: doc('things', 99), params: obj({}) } }),
    device.item({ query: 'no query' }),
    device.item({ query: { nonsense: 1 } }),
    device.item({ query: item(2) }),
  );
  expect(statesOf(verdicts)).toBe('confirmed refused confirmed refused confirmed');
  expect(verdicts[1]?.body).toContain('instance not found');
  expect(verdicts[3]?.body).toContain('invalid expression');
  expect(await count(world)).toBe(2);
});

test('the error of a refused write names the index and fields, or the reason why a function failed', async () => {
  const { world, device } = await open();
  const terms = [obj({ field: ['data', 'n'] })];
  const by = { name: 'things_by_n', source: coll('things'), terms, unique: true };
  await world.ask({ create_index: obj(by) });
  const low = { query: { lambda: 'n', expr: { abort: 'Below the last one.' } } };
  await world.ask({ create_function: obj({ name: 'record', body: low }) });
  const { verdicts } = await device.push(
    device.item({ query: item(1) }),
    device.item({ query: create(doc('things', 2), { n: 1 }) }),
    device.item({ query: { call: { function: 'record' }, arguments: 1 } }),
  );
  expect(verdicts[1]?.body).toContain(
    'Another document has the same data.n, and index things_by_n is unique.',
  );
  expect(verdicts[2]?.body).toContain(
    'Calling the function resulted in an error. Below the last one.',
  );
});

test('T4 the error of a refused write hides details from a function with its own role', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  const body = { query: { lambda: 'n', expr: { get: doc('things', 99) } } };
  await world.ask({ create_function: obj({ name: 'look', body, role: 'admin' }) });
  await world.ask(role(may({ call: true }, { function: 'look' })));
  const call = { call: { function: 'look' }, arguments: 1 };
  const { verdicts } = await device.push(device.item({ query: { do: [newThing, call] } }));
  expect(verdicts[0]?.state).toBe('refused');
  expect(verdicts[0]?.body).toContain('Document not found.');
  expect(verdicts[0]?.body).not.toContain('99');
});

test('a refused write leaves no effects', async () => {
  const { world, device } = await open();
  const both = { do: [item(1), { abort: 'no' }] };
  const { verdicts } = await device.push(device.item({ query: both }));
  expect(verdicts[0]).toMatchObject({ state: 'refused' });
  expect(await count(world)).toBe(0);
});

test('S6 T3 a push uses the current rights of its credential', async () => {
  const { world } = await open();
  const secret = await world.user(1);
  const device = await world.device(secret);
  const denied = await device.push(device.item({ query: item(1) }));
  expect(denied.verdicts[0]).toMatchObject({ state: 'refused' });
  expect(denied.verdicts[0]?.body).toContain('permission denied');
  await world.ask(role(may({ create: true, create_with_id: true })));
  const allowed = await device.push(device.item({ query: item(2) }));
  expect(allowed.verdicts[0]).toMatchObject({ state: 'confirmed' });
});

test.each(['after a day', 'after a restart of the hub'])(
  'while nothing can be stored, hello() answers the devices that the hub knows: %s',
  async (when) => {
    const store = createMemoryStore();
    const { world, device } = await open(store);
    await device.push(device.item({ query: item(1) }));
    const hub = when === 'after a day' ? world : await HubWorld.open(store);
    hub.now = world.now + 2 * DAY_MICROS;
    const write = vi.spyOn(store, 'write');
    write.mockRejectedValue(new Refusal('quota_exceeded', 'The disk is full.'));
    expect(await device.tryHello(hub.sync)).toMatchObject({ lastSeq: 1 });
    expect(write).toHaveBeenCalled();
    await expect(device.copy('f'.repeat(32)).tryHello(hub.sync)).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    write.mockRestore();
    expect(await device.tryHello(hub.sync)).toMatchObject({ lastSeq: 1 });
    const { value } = await hub.engine.transactions.read(({ writer }) => ({
      value: deviceIn(writer, 0, device.id, 'root 0 in 0'),
    }));
    expect(value?.seen).toBe(hub.now);
  },
);

test('T3 T18 a device belongs to the first user who says hello for it', async () => {
  const { world } = await open();
  const device = await world.device(await world.user(1));
  const write = device.item({ query: item(1) });
  device.secret = await world.user(2);
  expect(await device.tryPush(write)).toMatchObject({ code: 'device_taken' });
  expect(await device.tryHello()).toMatchObject({ code: 'device_taken' });
  expect(await count(world)).toBe(0);
});

test('a new token of the same identity may use its device', async () => {
  const { world } = await open();
  const device = await world.device(await world.user(1));
  device.secret = await world.login(1);
  expect(await device.hello()).toMatchObject({ lastSeq: 0 });
});

test('each key is a subject of its own in all its roles, and so is the root secret', async () => {
  const { world } = await open();
  const keys = [];
  for (const role of ['admin', 'server', 'server'])
    keys.push((await world.document({ create_key: obj({ role }) }))['secret']);
  const [admin = '', server = '', other = ''] = keys;
  const subjects = [];
  for (const secret of [admin, `${admin}:server`, server, other, ROOT]) {
    const device = await world.device(secret);
    subjects.push((await device.hello()).actor.subject);
  }
  expect(subjects[1]).toBe(subjects[0]);
  expect(subjects).not.toContain(undefined);
  expect(new Set(subjects).size).toBe(4);
});

test('P1 passwords, logins, keys and tokens are refused in a push', async () => {
  const { world, device } = await open();
  await world.user(1);
  const { verdicts } = await device.push(
    device.item({ query: { login: doc('users', 1), params: obj({ password: 'secret' }) } }),
    device.item({ query: { create_key: obj({ role: 'admin' }) } }),
    device.item({
      query: create(coll('users'), {}, { credentials: obj({ password: 'other' }) }),
    }),
    device.item({ query: { do: [item(1), { identify: doc('users', 1), password: 'secret' }] } }),
    device.item({
      query: { create: { tokens: null }, params: obj({ instance: doc('users', 1) }) },
    }),
  );
  for (const { state, body } of verdicts) {
    expect(state).toBe('refused');
    expect(body).toContain('connection_needed');
  }
  expect(await count(world)).toBe(0);
});

test('P1 a logout in a push is refused, so that it cannot end a later login', async () => {
  const { world } = await open();
  const device = await world.device(await world.user(1));
  const { verdicts } = await device.push(
    device.item({ query: { logout: false } }),
    device.item({ query: { logout: true } }),
  );
  for (const { state, body } of verdicts) {
    expect(state).toBe('refused');
    expect(body).toContain('connection_needed');
  }
  expect(await world.ask({ logout: false }, { secret: device.secret })).toBe(true);
});

test('T19 Now() of a write is not in the future of the hub, and never goes back', async () => {
  const { world, device } = await open();
  const stored = (id: number) => create(doc('things', id), { at: { now: null } });
  const seconds = (id: number) =>
    world.ask({ to_micros: { select: ['data', 'at'], from: { get: doc('things', id) } } });
  const at = world.now;
  const { verdicts } = await device.push(
    device.item({ query: stored(1), now: at - 1000 }),
    device.item({ query: stored(2), now: at - 2000 }),
    device.item({ query: stored(3), now: at + 86_400_000_000 }),
    device.item({ query: stored(4), now: at + SYNC_LIMITS.nowAheadMicros }),
  );
  expect(statesOf(verdicts)).toBe('confirmed amended amended confirmed');
  expect(await seconds(1)).toBe(at - 1000);
  expect(await seconds(2)).toBe(at - 1000);
  // The time of arrival: when the clock of the device is corrected, its next times are right at once.
  const came = Number(await seconds(3));
  expect(came).toBeGreaterThanOrEqual(at);
  expect(came).toBeLessThan(at + 1_000_000);
  expect(await seconds(4)).toBe(at + SYNC_LIMITS.nowAheadMicros);
});

test('T19 Now() of a write is not before the last contact at which the device had no unsent writes', async () => {
  const { world, device } = await open();
  const stored = (id: number) => create(doc('things', id), { at: { now: null } });
  const at = (id: number) =>
    world.ask({ to_micros: { select: ['data', 'at'], from: { get: doc('things', id) } } });
  const day = 86_400_000_000;
  const contact = world.now;
  const months = contact - 300 * day;
  await device.push(device.item({ query: stored(1), now: months }));
  // The hello was at the time of the commit before it, which is 1 µs after the clock.
  expect(Number(await at(1))).toBe(contact + 1 - SYNC_LIMITS.nowAheadMicros);
  // Weeks without contact, then a hello with two unsent writes, one of which claims a time that is too early.
  const old = device.item({ query: stored(2), now: contact + day });
  const lie = device.item({ query: stored(3), now: months });
  world.now += 20 * day;
  await device.hello();
  await device.push(old, lie);
  expect([await at(2), await at(3)]).toEqual([contact + day, contact + day]);
  // At the next hello nothing is unsent.
  const later = world.now;
  await device.hello();
  await device.push(device.item({ query: stored(4), now: later - day }));
  expect(Number(await at(4))).toBeGreaterThanOrEqual(later - SYNC_LIMITS.nowAheadMicros);
});

test('T19 a function with its own role sees the time of the hub, not Now() of the push', async () => {
  const { world, device } = await open();
  const time = { to_micros: { now: null } };
  const stamp = create(coll('things'), { at: time });
  const body = { query: { lambda: '_', expr: stamp } };
  await world.ask({ create_function: obj({ name: 'stamp', body, role: 'server' }) });
  await world.ask({ create_function: obj({ name: 'own', body }) });
  const at = world.now;
  world.now += 86_400_000_000;
  const call = (name: string) => ({ call: { function: name }, arguments: null });
  await device.push(
    device.item({ query: call('stamp'), now: at }),
    device.item({ query: call('own'), now: at }),
    device.item({ query: { do: [call('stamp'), stamp] }, now: at }),
  );
  const times = await world.page({
    map: { lambda: 'x', expr: { select: ['data', 'at'], from: { get: { var: 'x' } } } },
    collection: { paginate: { documents: coll('things') } },
  });
  const hubTimes = times.map(Number).filter((each) => each > at + 86_000_000_000);
  expect(hubTimes).toHaveLength(2);
  expect(times.filter((each) => each === at)).toHaveLength(2);
});

test('T19 a function with its own role gets ids from the hub, not from the push', async () => {
  const { world } = await open();
  const device = await creator(world, 1);
  const body = { query: { lambda: '_', expr: [{ new_id: null }, create(coll('things'))] } };
  await world.ask({ create_function: obj({ name: 'make', body, role: 'server' }) });
  await world.ask(role(may({ call: true }, { function: 'make' })));
  const call = { call: { function: 'make' }, arguments: null };
  const given = Array.from({ length: 3 }, () => device.newId());
  const { verdicts } = await device.push(
    device.item({ query: { do: [newThing, call] }, ids: given }),
    device.item({ query: { do: [newThing, call] }, ids: [] }),
  );
  expect(statesOf(verdicts)).toBe('confirmed confirmed');
  expect(await world.ask({ exists: doc('things', given[0]!) })).toBe(true);
  for (const { body: text } of verdicts) {
    const { resource } = JSON.parse(text ?? '') as { resource: [string, { ref: WireRef }] };
    for (const id of [resource[0], resource[1].ref['@ref'].id]) {
      expect(given).not.toContain(id);
      expect(isIdMadeWith(device.idKey, BigInt(id), sha256)).toBe(false);
    }
  }
});

interface WireRef {
  readonly '@ref': { readonly id: string };
}

test('T19 a write with a taken id is refused', async () => {
  const { world, device } = await open();
  await world.ask(item(5));
  const { verdicts } = await device.push(
    device.item({ query: create(coll('things'), { n: 2 }), ids: ['5'] }),
  );
  expect(verdicts[0]?.state).toBe('refused');
  expect(await world.ask({ select: ['data', 'n'], from: { get: doc('things', 5) } })).toBe(5);
});

test('S13 a write with another result than on the device is amended', async () => {
  const { device } = await open();
  const { verdicts } = await device.push(device.item({ query: item(1), digest: 'ab'.repeat(32) }));
  expect(verdicts[0]).toMatchObject({ state: 'amended' });
});

/** A user who may call a function that writes documents which that user may not read. */
async function withVault() {
  const { world, device: admin } = await open();
  const device = await world.device(await world.user(1));
  const body = {
    query: { lambda: 'n', expr: { do: [create(doc('things', 5), { file, n: 1 }), true] } },
  };
  await world.ask({ create_function: obj({ name: 'hide', body, role: 'admin' }) });
  await world.ask(role(may({ call: true }, { function: 'hide' })));
  return { world, device, admin };
}

const file = `file:${'ab'.repeat(32)}`;
const hide = { call: { function: 'hide' }, arguments: null };

test('T4 a verdict lists no file of a document that the user may not read', async () => {
  const { world, device, admin } = await withVault();
  const { verdicts } = await device.push(device.item({ query: hide }));
  expect(verdicts[0]?.state).toBe('confirmed');
  expect(verdicts[0]).not.toHaveProperty('files');
  await world.ask({ delete: doc('things', 5) });
  const told = await admin.push(admin.item({ query: hide }));
  expect(told.verdicts[0]?.files).toEqual([[expect.any(Number), '5', [file]]]);
});

async function digestOfHiding(world: HubWorld): Promise<string> {
  await world.ask(hide);
  const { value: row } = await world.engine.transactions.read(({ writer }) => ({
    value: writer.row({ space: 'documents', key: documentKey(0, THINGS_NUMBER, 5n) }),
  }));
  return digestOf({ puts: [{ space: 'documents', row: row! }], deletes: [] }, 'true', sha256);
}

test('T4 a digest cannot be used to guess what a function with its own role has written', async () => {
  const { world, device, admin } = await withVault();
  const digest = await digestOfHiding(world);
  for (const [each, state] of [
    [device, 'amended'],
    [admin, 'confirmed'],
  ] as const) {
    await world.ask({ delete: doc('things', 5) });
    const { verdicts } = await each.push(each.item({ query: hide, digest }));
    expect(verdicts[0]?.state).toBe(state);
  }
});

test('a hundred writes share a few commits', async () => {
  const { world, device } = await open();
  let commits = 0;
  const stop = world.engine.onCommit(() => (commits += 1));
  const writes = Array.from({ length: 100 }, (_, i) => device.item({ query: item(i + 1) }));
  const { verdicts, lastSeq } = await device.push(...writes);
  stop();
  expect(lastSeq).toBe(100);
  expect(verdicts.every(({ state }) => state === 'confirmed')).toBe(true);
  expect(commits).toBeLessThanOrEqual(3);
  expect(await count(world)).toBe(100);
  const times = verdicts.map(({ ts }) => ts);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(new Set(times).size).toBe(100);
});

test('A5 T6 a revoked credential is locked, and an expired one needs a login', async () => {
  const { world } = await open();
  const device = await world.device(await world.user(1));
  const write = device.item({ query: item(1) });
  await world.ask({ logout: true }, { secret: device.secret });
  expect(await device.tryPush(write)).toMatchObject({ code: 'locked' });
  device.secret = await world.login(1, { ttl: { time: '2026-01-02T00:00:00Z' } });
  await device.hello();
  world.now += 2 * 86_400_000_000;
  expect(await device.tryPush(write)).toMatchObject({ code: 'needs_login' });
  device.secret = 'nothing';
  expect(await device.tryPush(write)).toMatchObject({ code: 'needs_login' });
});

test('A5 a token whose document was deleted is locked', async () => {
  const { world } = await open();
  const device = await world.device(await world.user(1));
  await world.ask({ delete: doc('users', 1) });
  expect(await device.tryPush(device.item({ query: item(1) }))).toMatchObject({ code: 'locked' });
});

test('A7 keys and tokens that were made in a database of a device are invalid at the hub', async () => {
  const { world } = await open();
  const known = await world.device(await world.user(1));
  const local = new EngineWorld();
  await local.ask({ create_collection: obj({ name: 'users' }) });
  const credentials = obj({ password: 'secret' });
  await local.ask(create(doc('users', 1), {}, { credentials }));
  const made = [
    { create_key: obj({ role: 'admin' }) },
    { login: doc('users', 1), params: obj({ password: 'secret' }) },
  ];
  for (const query of made) {
    const { secret } = await local.document(query);
    expect((await local.answer(1, { secret })).status).toBe(200);
    expect((await world.answer(1, { secret })).status).toBe(401);
    known.secret = secret;
    expect(await known.tryHello()).toMatchObject({ code: expect.stringMatching(/login|locked/) });
  }
});

test('F20 S10 writes that the store failed to commit have no verdict until they are sent again', async () => {
  const store = createMemoryStore();
  const faults = { from: Infinity };
  let commits = 0;
  const faulty: Store = {
    ...store,
    async write(body, options) {
      commits += 1;
      if (commits >= faults.from) throw new Error('the store is gone');
      return store.write(body, options);
    },
  };
  const { world, device } = await open(faulty);
  // The reads of the write are cached from here on, so that it is executed before its commit begins.
  await device.push(device.item({ query: item(100) }));
  const writes = Array.from({ length: 10 }, (_, i) => device.item({ query: item(i + 1) }));
  // The first write is committed alone, those after it together.
  faults.from = commits + 2;
  const first = await device.push(...writes);
  expect(first.lastSeq).toBe(2);
  await expect(device.push(...writes.slice(1))).rejects.toThrow('the store is gone');
  faults.from = Infinity;
  const second = await device.push(...writes);
  expect(second.lastSeq).toBe(11);
  expect(second.verdicts[0]).toEqual(first.verdicts[0]);
  expect(await count(world)).toBe(11);
});

test('S9 the verdict on a write that another copy has sent before gets a commit of its own with a later time', async () => {
  const { world, device } = await open();
  const write = device.item({ query: item(1), ids: ['77'] });
  const first = await device.push(write);
  const watcher = await world.device();
  watcher.sets = [{ id: 'all', query: JSON.stringify(THINGS), loaded: 'nothing' }];
  await watcher.pull();
  world.tick();
  await world.ask(item(2));
  const commits: [number, number][] = [];
  world.engine.onCommit(({ previous, ts }) => commits.push([previous, ts]));
  const copy = await world.device();
  const { verdicts } = await copy.push(
    copy.item({ query: item(1), now: write.now, ids: ['77'], idKey: device.idKey }),
    copy.item({ query: item(3) }),
  );
  expect(verdicts.map(({ ts }) => ts === first.verdicts[0]?.ts)).toEqual([true, false]);
  for (const [previous, ts] of commits) expect(ts).toBeGreaterThan(previous);
  await watcher.pull();
  expect(ids(watcher)).toEqual([1, 2, 3]);
});

test('S1 the same write made by two devices of a person at the same time takes effect twice', async () => {
  const { world, device } = await open();
  const other = await world.device();
  const n = { select: ['data', 'n'], from: { get: doc('things', 1) } };
  const query = { update: doc('things', 1), params: obj({ data: obj({ n: { add: [n, 1] } }) }) };
  await world.ask(item(1));
  const { now } = world;
  const pushed = [device, other].map((each) => each.push(each.item({ query, now })));
  for (const { verdicts } of await Promise.all(pushed))
    expect(verdicts[0]?.state).toBe('confirmed');
  expect(await world.ask(n)).toBe(3);
  // If a copy of either device sends the write again, it is not executed again.
  for (const { idKey } of [device, other]) {
    const copy = await world.device();
    await copy.push(copy.item({ query, now, idKey }));
  }
  expect(await world.ask(n)).toBe(3);
});

test('F21 a write whose commit succeeded without an answer from the store is not made again', async () => {
  const store = createMemoryStore();
  const faults = { isOn: false };
  const faulty: Store = {
    ...store,
    async write(body, options) {
      const done = await store.write(body, options);
      if (faults.isOn) throw new Error('no answer');
      return done;
    },
  };
  const { world, device } = await open(faulty);
  const write = device.item({ query: create(coll('things'), { n: 1 }) });
  faults.isOn = true;
  await expect(device.push(write)).rejects.toThrow('no answer');
  faults.isOn = false;
  expect(await device.hello()).toMatchObject({ lastSeq: 1 });
  expect(await device.push(write)).toMatchObject({ verdicts: [{ seq: 1, state: 'confirmed' }] });
  expect(await count(world)).toBe(1);
});

test('S11 a device that has lost writes known to the hub is client_regressed', async () => {
  const { device } = await open();
  await device.push(device.item({ query: item(1) }));
  device.seq = 0;
  expect(await device.tryHello()).toMatchObject({ code: 'client_regressed' });
});

test('S12 F24 a push with another epoch is refused, and hello() returns the current epoch', async () => {
  const { world, device } = await open();
  device.epoch = 'f'.repeat(32);
  const write = device.item({ query: item(1) });
  expect(await device.tryPush(write)).toMatchObject({ code: 'epoch_changed' });
  expect(await device.hello()).toMatchObject({ epoch: world.epoch, lastSeq: 0 });
});

test('verdicts stored on the device are pruned later, and a write older than them is client_forked', async () => {
  const { device } = await open();
  const first = device.item({ query: item(1) });
  await device.push(first);
  const total = SYNC_LIMITS.verdictsKept + 300;
  for (let at = 1; at < total; at += 100) {
    device.settled = device.seq;
    const writes = Array.from({ length: 100 }, () =>
      device.item({ query: { delete: doc('things', 1) } }),
    );
    await device.push(...writes);
  }
  expect(await device.tryPush(first)).toMatchObject({ code: 'client_forked' });
});

test('malformed messages are bad_message and have no effect', async () => {
  const { world, device } = await open();
  const write = device.item({ query: item(1) });
  const good = device.pushMessage([write]);
  const bad: unknown[] = [
    undefined,
    null,
    [],
    'push',
    {},
    { ...good, device: 'x' },
    { ...good, epoch: undefined },
    { ...good, settled: -1 },
    { ...good, items: {} },
    { ...good, items: [null] },
    { ...good, items: [{ ...write, seq: 0 }] },
    { ...good, items: [{ ...write, ids: ['-1'] }] },
    { ...good, items: [{ ...write, ids: ['9223372036854775808'] }] },
    { ...good, items: [{ ...write, apiVersion: '9' }] },
    { ...good, items: [write, { ...write, seq: 3 }] },
    { ...good, items: Array.from({ length: 101 }, (_, i) => ({ ...write, seq: i + 1 })) },
  ];
  for (const message of bad)
    expect(await world.sync.push(ROOT, message)).toMatchObject({ code: 'bad_message' });
  expect(await count(world)).toBe(0);
});

test('F29 a write on which the hub fails is tried several times, then refused; later writes wait', async () => {
  const { world, device } = await open();
  const { transactions } = world.engine;
  const run: typeof transactions.execute = (plan, input) => {
    if (plan.request.query.includes('poison')) throw new Error('a mistake of ours');
    return transactions.execute(plan, input);
  };
  const sync = world.beside({
    engine: { transactions: { ...transactions, execute: run }, onCommit: () => () => undefined },
  });
  const writes = [
    device.item({ query: item(1) }),
    device.item({ query: create(doc('things', 2), { text: 'poison' }) }),
    device.item({ query: item(3) }),
  ];
  const push = async (from: number) =>
    accepted(await sync.push(ROOT, wire(device.pushMessage(writes.slice(from)))));
  expect((await push(0)).lastSeq).toBe(1);
  for (let tries = 2; tries < SYNC_LIMITS.writeTroubles; tries++)
    expect(await push(1)).toEqual({ lastSeq: 1, verdicts: [] });
  expect((await push(1)).verdicts).toMatchObject([{ state: 'refused' }, { state: 'confirmed' }]);
  expect(await count(world)).toBe(2);
});

test('a write that crashed its thread again is refused, and the writes after it are judged', async () => {
  const { world, device } = await open();
  const writes = [1, 2, 3].map((n) => device.item({ query: item(n) }));
  const begun: string[] = [];
  const sync = world.beside({
    watchedWrites: {
      begin: (hash) => void begun.push(hash),
      isFatal: (hash) => hash === writes[1]?.hash,
    },
  });
  const { verdicts } = accepted(await sync.push(ROOT, wire(device.pushMessage(writes))));
  expect(statesOf(verdicts)).toBe('confirmed refused confirmed');
  expect(verdicts[1]?.body).toContain('limit_exceeded');
  expect(new Set(begun)).toEqual(new Set([writes[0]?.hash, writes[2]?.hash]));
  expect(await count(world)).toBe(2);
});

test('T20 no write after a forked one is judged', async () => {
  const { world, device } = await open();
  await device.push(device.item({ query: item(1) }), device.item({ query: item(2) }));
  device.seq = 1;
  const forked = [device.item({ query: item(3) }), device.item({ query: item(4) })];
  expect(await device.tryPush(...forked)).toMatchObject({ code: 'client_forked' });
  expect(await count(world)).toBe(2);
});

test('S1 F33 writes sent to two processes on one store take effect once', async () => {
  const memory = new SharedMemory();
  const { world, device } = await open(createMemoryStore(memory));
  const beside = await HubWorld.open(createMemoryStore(memory));
  beside.now = world.now;
  const writes = Array.from({ length: 60 }, (_, i) =>
    device.item({ query: create(coll('things'), { n: i }) }),
  );
  const message = wire(device.pushMessage(writes));
  const answers = await Promise.all([
    world.sync.push(ROOT, message),
    beside.sync.push(ROOT, message),
    world.sync.push(ROOT, message),
  ]);
  const [first, ...others] = answers.map(accepted);
  expect(first?.lastSeq).toBe(60);
  for (const each of others) expect(each).toEqual(first);
  expect(await count(world)).toBe(60);
});

test('a token of an access provider may use the devices of its subject until it expires', async () => {
  const ISSUER = 'https://issuer.test/';
  const jwt = (sub: string | number, exp: number) =>
    [{ alg: 'RS256' }, { iss: ISSUER, aud: 'burrow', sub, exp }, 'signed']
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
  const accessTokens = {
    fetchKeys: () => Promise.resolve('{"keys":[]}'),
    isSigned: () => Promise.resolve(true),
    rootAudience: 'burrow',
  };
  const world = await HubWorld.open(createMemoryStore(), { accessTokens });
  await world.ask({ create_collection: obj({ name: 'things' }) });
  const privileges = may({ create: true, create_with_id: true });
  await world.ask({ create_role: obj({ name: 'writer', privileges }) });
  const provider = {
    name: 'p',
    issuer: ISSUER,
    jwks_uri: `${ISSUER}keys`,
    roles: { role: 'writer' },
  };
  await world.ask({ create_access_provider: obj(provider) });
  const ends = Math.floor(world.now / 1_000_000) + 3600;
  const device = await world.device(jwt('ann', ends));
  const welcome = await device.hello();
  expect(welcome).toMatchObject({ expiresAt: ends * 1_000_000 });
  // With the subject the device knows whether a later token belongs to the same user.
  expect(welcome.actor.subject).toMatch(/^\d+ ann$/);
  // Some providers write times as floating-point numbers, or the end of the year 9999 for "never".
  for (const [written, expiresAt] of [
    [`${ends}.0`, ends * 1_000_000],
    ['253402300799', Number.MAX_SAFE_INTEGER],
  ] as const) {
    const [header = '', claims = '', signature = ''] = jwt('ann', ends).split('.');
    const text = Buffer.from(claims, 'base64url').toString().replace(String(ends), written);
    device.secret = [header, Buffer.from(text).toString('base64url'), signature].join('.');
    expect(await device.hello()).toMatchObject({ expiresAt });
  }
  const { verdicts } = await device.push(device.item({ query: item(1) }));
  expect(verdicts[0]?.state).toBe('confirmed');
  device.secret = jwt('bob', ends);
  expect(await device.tryPush(device.item({ query: item(2) }))).toMatchObject({
    code: 'device_taken',
  });
  const numbered = await world.device(jwt(1, ends));
  await numbered.hello();
  numbered.secret = jwt(2, ends);
  expect(await numbered.tryPush(numbered.item({ query: item(2) }))).toMatchObject({
    code: 'device_taken',
  });
  device.secret = jwt('ann', ends + 60);
  await device.hello();
  world.now = (ends + 120) * 1_000_000;
  expect(await device.tryPush(device.item({ query: item(2) }))).toMatchObject({
    code: 'needs_login',
  });
});

test('pulls return verdicts in portions, as the device confirms them', async () => {
  const { device } = await open();
  const total = SYNC_LIMITS.pullVerdicts + 50;
  const remove = { query: { delete: doc('things', 1) } };
  for (let at = 0; at < total; at += 50)
    await device.push(...Array.from({ length: 50 }, () => device.item(remove)));
  const first = await device.pullOnce();
  expect(first.lastSeq).toBe(total);
  expect(first.verdicts.map(({ seq }) => seq)).toEqual(
    Array.from({ length: SYNC_LIMITS.pullVerdicts }, (_, i) => i + 1),
  );
  device.settled = SYNC_LIMITS.pullVerdicts;
  expect((await device.pullOnce()).verdicts).toHaveLength(50);
});
