import { expect, test } from 'vitest';
import { coll, create, doc, obj } from '../../../engine/testing/engine-world.ts';
import { NATIVE } from '../../../values/native-kinds.ts';
import { accepted, wire } from '../../testing/hub-world.ts';
import {
  ids,
  lambda,
  openThings,
  put,
  reads,
  remove,
  role,
  THINGS,
  THINGS_NUMBER,
} from '../../testing/things.ts';

/** True, but depends on the clock. */
const BY_CLOCK = { gt: [{ to_micros: { now: null } }, 0] };
const DENY_ALL = {
  update: { role: 'reader' },
  params: obj({ privileges: [reads(coll('things'), lambda(false))] }),
};

/** A device that has pulled the only thing. @param read the right of its user to read things */
async function readerOfOne(read?: unknown) {
  const world = await openThings();
  await world.ask(role([reads(coll('things'), read)]));
  await put(world, 1);
  const user = (await world.device(await world.user(1))).watch(THINGS);
  await user.pull();
  return { world, user };
}

test('P3 a set that the user may not read is refused, and its schema is not sent', async () => {
  const world = await openThings();
  await put(world, 1);
  const user = (await world.device(await world.user(1))).watch(THINGS);
  const { sets, puts, schema } = await user.pullOnce();
  expect(sets[0]?.error?.code).toBe('permission denied');
  expect(puts).toEqual([]);
  expect(schema?.documents.some(([, , stored]) => stored.includes('things'))).toBe(false);
});

test('a user may keep the own document, by its ref or by the set of its collection', async () => {
  const world = await openThings();
  await world.user(2);
  const secret = await world.user(1);
  const sets = [doc('users', 1), { documents: coll('users') }];
  for (const set of sets) {
    const user = (await world.device(secret)).watch(set);
    const { sets: answers, puts } = await user.pullOnce();
    expect(answers[0]?.error).toBeUndefined();
    expect(puts.map(([, id]) => id)).toEqual(['1']);
  }
});

test('a user may keep a document by its ref as long as its own permissions allow reading', async () => {
  const world = await openThings();
  await put(world, 1);
  const secret = await world.user(1);
  const user = (await world.device(secret)).watch(doc('things', 1));
  const open = (read: unknown) =>
    world.ask({ update: doc('things', 1), params: obj({ permissions: obj({ read }) }) });
  const codeNow = async () => (await user.pullOnce()).sets[0]?.error?.code;
  expect(await codeNow()).toBe('permission denied');
  await open(doc('users', 1));
  expect(await codeNow()).toBeUndefined();
  await user.pull();
  expect(ids(user)).toEqual([1]);
  await open(doc('users', 2));
  expect(await codeNow()).toBe('permission denied');
  const other = (await world.device(secret)).watch(doc('things', 2));
  expect((await other.pullOnce()).sets[0]?.error?.code).toBe('permission denied');
});

test('a pull contains only the schema that the user needs, and only if it changed', async () => {
  const world = await openThings();
  await world.ask({ create_collection: obj({ name: 'hidden' }) });
  const body = (expr: unknown) => ({ query: { lambda: 'x', expr } });
  await world.ask({ create_function: obj({ name: 'open', body: body({ var: 'x' }) }) });
  await world.ask({
    create_function: obj({ name: 'strong', role: 'admin', body: body('how it is done') }),
  });
  await world.ask({ create_function: obj({ name: 'other', body: body(1) }) });
  const calls = (name: string) =>
    obj({ resource: { function: name }, actions: obj({ call: true }) });
  await world.ask(role([reads(coll('things')), calls('open'), calls('strong')]));
  const user = (await world.device(await world.user(1))).watch(THINGS);
  const first = await user.pullOnce();
  const names = first.schema?.documents.map(
    ([collection, , stored]) => [collection, /"name":"(\w+)"/.exec(stored)?.[1]] as const,
  );
  expect(names).toEqual([
    [NATIVE.collections, 'users'],
    [NATIVE.collections, 'things'],
    [NATIVE.functions, 'open'],
    [NATIVE.functions, 'strong'],
    [NATIVE.roles, 'reader'],
  ]);
  expect(JSON.stringify(first)).not.toContain('how it is done');
  expect((await user.pullOnce()).schema).toBeUndefined();
  await world.ask({ update: { function: 'open' }, params: obj({ data: obj({ a: 1 }) }) });
  expect((await user.pullOnce()).schema?.documents).toHaveLength(5);
});

test('P1 a pull never contains keys, tokens, credentials or their hashes', async () => {
  const world = await openThings();
  const secret = await world.user(1);
  await world.ask({ create_key: obj({ role: 'server' }) });
  const admin = (await world.device()).watch(THINGS, { documents: coll('users') });
  const sent = JSON.stringify(await admin.pullOnce());
  expect(sent).not.toContain('hashed');
  expect(sent).not.toContain(secret);
});

test('S14 a document that becomes unreadable leaves the device, and a document that never was readable is not mentioned', async () => {
  const world = await openThings();
  const own = {
    equals: [{ select: ['data', 'owner'], from: { get: { var: 'ref' } }, default: 0 }, 1],
  };
  await world.ask(role([reads(coll('things'), lambda(own))]));
  await put(world, 1, { owner: 1 });
  await put(world, 2, { owner: 2 });
  const user = (await world.device(await world.user(1))).watch(THINGS);
  await user.pull();
  expect(ids(user)).toEqual([1]);
  await put(world, 1, { owner: 2 });
  await put(world, 2, { owner: 3 });
  await put(world, 3, { owner: 2 });
  await remove(world, 3);
  await remove(world, 2);
  const pulled = await user.pullOnce();
  expect(pulled.leaves).toEqual([[THINGS_NUMBER, '1']]);
  expect(pulled.check).toBe(false);
  expect([...user.heardOf]).toEqual([`${THINGS_NUMBER}/1`]);
  await put(world, 1, { owner: 1 });
  await user.pull();
  await remove(world, 1);
  expect((await user.pullOnce()).leaves).toEqual([[THINGS_NUMBER, '1']]);
});

test('S14 T5 when a document that rights depend on changes, the hub requests a check, which brings the differences', async () => {
  const world = await openThings();
  const team = (of: unknown) => ({ select: ['data', 'team'], from: { get: of }, default: 0 });
  const same = { equals: [team({ var: 'ref' }), team({ identity: null })] };
  await world.ask(role([reads(coll('things'), lambda(same))]));
  for (let id = 1; id <= 10; id++) await put(world, id, { team: id % 2 });
  const user = (await world.device(await world.user(1, { team: 1 }))).watch(THINGS);
  await user.pull();
  expect(ids(user)).toEqual([1, 3, 5, 7, 9]);
  expect(user.mustCheck).toBe(false);
  await put(world, 11, { team: 1 });
  expect((await user.pullOnce()).check).toBe(false);
  await world.ask({ update: doc('users', 1), params: obj({ data: obj({ team: 0 }) }) });
  // A device that dies before it has stored the answer sends the same request again.
  const asked = wire(user.pullMessage());
  expect((await user.pullOnce()).check).toBe(true);
  expect(accepted(await world.sync.pull(user.secret, asked)).check).toBe(true);
  expect((await user.pullOnce()).check).toBe(false);
  expect(await user.check()).toBe(11);
  expect(ids(user)).toEqual([2, 4, 6, 8, 10]);
  expect(await user.check()).toBe(0);
  expect((await user.pullOnce()).check).toBe(false);
});

test('S14 when a role loses a privilege, its documents leave the device', async () => {
  const world = await openThings();
  await world.ask(role([reads(coll('things')), reads(coll('users'))]));
  await put(world, 1);
  const user = (await world.device(await world.user(1))).watch({
    union: [THINGS, { documents: coll('users') }],
  });
  await user.pull();
  expect(ids(user)).toEqual([1, 1]);
  await world.ask({
    update: { role: 'reader' },
    params: obj({ privileges: [reads(coll('things'), lambda(false)), reads(coll('users'))] }),
  });
  const pulled = await user.pullOnce();
  expect(pulled.check).toBe(true);
  expect(await user.check()).toBe(1);
  expect([...user.documents.keys()]).toEqual(['1024/1']);
});

test('rights that depend on the clock are checked every ten minutes', async () => {
  const { world, user } = await readerOfOne(lambda(BY_CLOCK));
  expect((await user.pullOnce()).check).toBe(false);
  world.now += 600_000_000;
  expect((await user.pullOnce()).check).toBe(true);
  await user.check();
  expect((await user.pullOnce()).check).toBe(false);
});

test('S14 both copies of one device are asked for a check after a change of rights', async () => {
  const { world, user } = await readerOfOne();
  const twin = user.copy();
  await world.ask(DENY_ALL);
  expect((await user.pullOnce()).check).toBe(true);
  await user.check();
  expect(await user.check()).toBe(0);
  expect((await twin.pullOnce()).check).toBe(true);
  await twin.check();
  expect([...twin.documents]).toEqual([]);
});

test('S14 when two copies of one device pull at once, the hub notes what the rights of both depend on', async () => {
  const world = await openThings();
  await world.ask({ create_collection: obj({ name: 'gates' }) });
  const gate = { get: { select: ['data', 'gate'], from: { get: { var: 'ref' } } } };
  const isOpen = { select: ['data', 'isOpen'], from: gate };
  await world.ask(role([reads(coll('things'), lambda(isOpen))]));
  for (const id of [1, 2]) {
    await world.ask(create(doc('gates', id), { isOpen: true }));
    await put(world, id, { gate: doc('gates', id) });
  }
  const user = await world.device(await world.user(1));
  const copies = [user.copy().watch(doc('things', 1)), user.copy().watch(doc('things', 2))];
  await Promise.all(copies.map((copy) => copy.pull()));
  expect(copies.map(ids)).toEqual([[1], [2]]);
  for (const [i, copy] of copies.entries()) {
    const data = obj({ isOpen: false });
    await world.ask({ update: doc('gates', i + 1), params: obj({ data }) });
    expect((await copy.pullOnce()).check).toBe(true);
    await copies[1]?.pullOnce();
  }
});

test('both copies of one device are asked for a check if rights depend on the clock', async () => {
  const { world, user } = await readerOfOne(lambda(BY_CLOCK));
  const twin = user.copy();
  world.now += 600_000_000;
  for (const copy of [user, twin]) {
    expect((await copy.pullOnce()).check).toBe(true);
    await copy.check();
    expect((await copy.pullOnce()).check).toBe(false);
  }
});

test('S14 a copy under a new device id must check, because the hub has not noted what its rights depend on', async () => {
  const { world, user } = await readerOfOne();
  await world.ask(DENY_ALL);
  await user.pullOnce();
  const renamed = user.copy('f'.repeat(32));
  await renamed.hello();
  expect((await renamed.pullOnce()).check).toBe(true);
  await renamed.check();
  expect([...renamed.documents]).toEqual([]);
  expect((await renamed.pullOnce()).check).toBe(false);
});

test('a device must check when its key gets another role', async () => {
  const world = await openThings();
  const even = lambda({
    equals: [{ modulo: [{ to_integer: { select: 'id', from: { var: 'ref' } } }, 2] }, 0],
  });
  const named = (name: string, read: unknown) => ({
    create_role: obj({ name, privileges: reads(coll('things'), read) }),
  });
  await world.ask(named('all', true));
  await world.ask(named('some', even));
  const key = await world.document({ create_key: obj({ role: { role: 'all' } }) });
  for (let id = 1; id <= 4; id++) await put(world, id);
  const device = (await world.device(key.secret)).watch(THINGS);
  await device.pull();
  expect(ids(device)).toEqual([1, 2, 3, 4]);
  await world.ask({ update: key.ref, params: obj({ role: { role: 'some' } }) });
  expect((await device.pullOnce()).check).toBe(true);
  await device.check();
  expect(ids(device)).toEqual([2, 4]);
});

test('S14 a rewritten history requires a check if the hub cannot know what was readable', async () => {
  const world = await openThings();
  const own = { equals: [{ select: ['data', 'n'], from: { get: { var: 'ref' } }, default: 0 }, 1] };
  await world.ask(role([reads(coll('things'), lambda(own))]));
  await put(world, 1, { n: 2 });
  await put(world, 1, { n: 1 });
  const user = (await world.device(await world.user(1))).watch(THINGS);
  await user.pull();
  expect(ids(user)).toEqual([1]);
  const { ts } = await world.document({ get: doc('things', 1) });
  await world.ask({ remove: doc('things', 1), ts, action: 'update' });
  expect((await user.pullOnce()).check).toBe(true);
  await user.check();
  expect(ids(user)).toEqual([]);
});

test('if rights depend on many documents, the hub notes whole collections instead', async () => {
  const world = await openThings();
  await world.ask({ create_collection: obj({ name: 'teams' }) });
  const of = { select: ['data', 'team'], from: { get: { var: 'ref' } } };
  const open_ = { select: ['data', 'open'], from: { get: of }, default: false };
  await world.ask(role([reads(coll('things'), lambda(open_))]));
  const many = 220;
  const ids_ = Array.from({ length: many }, (_, i) => i + 1);
  for (const id of ids_) {
    await world.ask(create(doc('teams', id), { open: id % 2 === 0 }));
    await put(world, id, { team: doc('teams', id) });
  }
  const user = (await world.device(await world.user(1))).watch(THINGS);
  await user.pull();
  expect(ids(user)).toHaveLength(many / 2);
  await world.ask({ update: doc('teams', 219), params: obj({ data: obj({ open: true }) }) });
  expect((await user.pullOnce()).check).toBe(true);
  await user.check();
  expect(ids(user)).toHaveLength(many / 2 + 1);
});

test('S14 rights that depend on a document with a ttl are checked when it has expired', async () => {
  const world = await openThings();
  await world.ask({ create_collection: obj({ name: 'passes' }) });
  const pass = { exists: { ref: coll('passes'), id: '1' } };
  await world.ask(role([reads(coll('things'), lambda(pass))]));
  await world.ask(create(doc('passes', 1), {}, { ttl: { time: '2026-01-02T00:00:00Z' } }));
  await put(world, 1);
  const user = (await world.device(await world.user(1))).watch(THINGS);
  await user.pull();
  expect(ids(user)).toEqual([1]);
  expect((await user.pullOnce()).check).toBe(false);
  world.now += 2 * 86_400_000_000;
  user.secret = await world.login(1);
  // Two copies of one device: if the first finds that something has expired, the second must find it, too.
  for (const copy of [user, user.copy()]) {
    expect((await copy.pullOnce()).check).toBe(true);
    await copy.check();
    expect(ids(copy)).toEqual([]);
    await copy.check();
    expect((await copy.pullOnce()).check).toBe(false);
  }
});
