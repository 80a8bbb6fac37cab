import { expect, test } from 'vitest';
import { createMemoryStore, SharedMemory } from '../../store/memory.ts';
import type { EngineOptions } from '../context/host.ts';
import { coll, create, doc, EngineWorld, obj, type Query } from '../testing/engine-world.ts';

const MINUTE = 60 * 1_000_000;
const user = doc('users', 1);
const byMail = (mail: string, index = 'by_mail'): Query => ({ match: { index }, terms: mail });
const login = (target: Query, password?: string): Query => ({
  login: target,
  params: obj(password === undefined ? {} : { password }),
});
const FAILED = { code: 'authentication failed', status: 400 };
const LIMITED = { code: 'too many requests', status: 429 };

async function world(
  memory = new SharedMemory(),
  options: Partial<EngineOptions> = {},
): Promise<EngineWorld> {
  const w = new EngineWorld(createMemoryStore(memory), options);
  await w.ask({ create_collection: obj({ name: 'users' }) });
  for (const name of ['by_mail', 'also_by_mail']) {
    const terms = [obj({ field: ['data', 'mail'] })];
    await w.ask({ create_index: obj({ name, source: coll('users'), terms }) });
  }
  for (const id of [1, 2]) {
    const credentials = obj({ password: `p${id}` });
    await w.ask(create(doc('users', id), { mail: `${id}@example.org` }, { credentials }));
  }
  await w.ask(create(doc('users', 3), { mail: '3@example.org' }));
  return w;
}

const codeOf = async (w: EngineWorld, query: Query): Promise<string> => {
  const { status, body } = await w.answer(query);
  if (status < 300) return 'ok';
  return (JSON.parse(body) as { errors: { code: string }[] }).errors[0]?.code ?? '';
};
async function codes(w: EngineWorld, query: Query, times: number): Promise<readonly string[]> {
  const all: string[] = [];
  for (let i = 0; i < times; i += 1) all.push(await codeOf(w, query));
  return all;
}
const five = Array.from({ length: 5 }, () => FAILED.code);

test('after five wrong passwords in a minute, all attempts are refused until the first is a minute old', async () => {
  const w = await world();
  const first = w.now + 1_000_000;
  expect(await codes(w, login(user, 'wrong'), 5)).toEqual(five);
  const before = w.verifications;
  const refused = await w.fault(login(user, 'p1'));
  expect(refused).toMatchObject(LIMITED);
  expect(refused.description).toContain(
    new Date((first + MINUTE) / 1000).toISOString().slice(0, 19),
  );
  expect(await w.fault({ identify: user, password: 'p1' })).toMatchObject(LIMITED);
  expect(w.verifications).toBe(before);
  expect(await codeOf(w, login(doc('users', 2), 'p2'))).toBe('ok');
  w.now = first + MINUTE;
  expect(await codeOf(w, login(user, 'p1'))).toBe('ok');
});

test('attempts that are refused by the limit do not read the stored attempts', async () => {
  const memory = new SharedMemory();
  await world(memory);
  const store = createMemoryStore(memory);
  let looks = 0;
  const read: typeof store.read = (body, options) => {
    if (options?.spaces?.join() === 'meta') looks += 1;
    return store.read(body, options);
  };
  const w = new EngineWorld({ ...store, read, write: (...all) => store.write(...all) });
  await codes(w, login(user, 'wrong'), 5);
  const before = looks;
  expect(await codes(w, login(user, 'p1'), 20)).toEqual(Array(20).fill(LIMITED.code));
  expect([before > 0, looks - before]).toEqual([true, 0]);
});

test('after fifty wrong passwords in an hour, logins are refused until it is over, despite correct ones between', async () => {
  const w = await world();
  const start = w.now;
  for (let i = 0; i < 9; i += 1) {
    expect(await codes(w, login(user, 'wrong'), 5)).toEqual(five);
    w.now += MINUTE;
    expect(await codes(w, login(user, 'p1'), 6)).not.toContain(LIMITED.code);
  }
  expect(await codes(w, login(user, 'wrong'), 5)).toEqual(five);
  w.now += MINUTE;
  expect(await w.fault(login(user, 'p1'))).toMatchObject(LIMITED);
  w.now = start + 59 * MINUTE;
  const refused = await w.fault(login(user, 'p1'));
  expect(refused).toMatchObject(LIMITED);
  // The first attempt was made a second after the start.
  const end = new Date((start + 60 * MINUTE) / 1000 + 1000).toISOString().slice(0, 19);
  expect(refused.description).toContain(end);
  w.now = start + 61 * MINUTE;
  expect(await codeOf(w, login(user, 'p1'))).toBe('ok');
});

test('missing users are blocked like existing ones, with the same answers and number of comparisons (A1)', async () => {
  const w = await world();
  const targets: Record<string, Query> = {
    'a wrong password': byMail('1@example.org'),
    'a document without credentials': byMail('3@example.org'),
    'nobody, by a set': byMail('9@example.org'),
    'nobody, by a ref': doc('users', 9),
    'an empty collection': { documents: { roles: null } },
  };
  const texts = new Set<string>();
  for (const [what, target] of Object.entries(targets)) {
    for (const password of ['x', 'y', 'x'.repeat(73), 'a\0b', undefined]) {
      const before = w.verifications;
      const { body } = await w.answer(login(target, password));
      texts.add(body);
      expect([what, w.verifications - before]).toEqual([what, 1]);
    }
    const before = w.verifications;
    expect([what, await codeOf(w, login(target, 'x'))]).toEqual([what, LIMITED.code]);
    expect([what, await codeOf(w, { identify: target, password: 'x' })]).toEqual([
      what,
      LIMITED.code,
    ]);
    expect(w.verifications).toBe(before);
  }
  expect([...texts]).toHaveLength(1);
  // Other targets are not barred.
  expect(await codeOf(w, login(byMail('2@example.org'), 'p2'))).toBe('ok');
});

test('a blocked account is blocked through every index, where the right password looks like a wrong one', async () => {
  const w = await world();
  const [mail, nobody] = ['1@example.org', '9@example.org'];
  for (const each of [mail, nobody]) {
    expect(await codes(w, login(byMail(each), 'wrong'), 5)).toEqual(five);
  }
  // Through another target, the right password fails like a wrong one, in the same way as for a user that does not exist.
  for (const each of [mail, nobody]) {
    const before = w.verifications;
    expect(await codes(w, login(byMail(each, 'also_by_mail'), 'p1'), 6)).toEqual([
      ...five,
      LIMITED.code,
    ]);
    expect(w.verifications - before).toBe(5);
  }
  w.now += 2 * MINUTE;
  expect(await codeOf(w, login(byMail(mail, 'also_by_mail'), 'p1'))).toBe('ok');
});

test('one query, or several at the same time, can try at most five passwords', async () => {
  const w = await world();
  const tries = Array.from({ length: 20 }, (_, i) => ({ identify: user, password: `${i}` }));
  const before = w.verifications;
  expect(await codeOf(w, tries)).toBe(LIMITED.code);
  expect(w.verifications - before).toBe(5);
  w.now += 2 * MINUTE;
  const other = doc('users', 2);
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, i) => codeOf(w, login(other, `${i}`))),
  );
  expect(all.filter((code) => code === FAILED.code)).toHaveLength(5);
  expect(all.filter((code) => code === LIMITED.code)).toHaveLength(15);
  expect(w.verifications - before).toBe(10);
});

test('the same password tried several times in one query counts as one attempt', async () => {
  const w = await world();
  const same = Array.from({ length: 20 }, () => ({ identify: user, password: 'wrong' }));
  expect(await w.ask(same)).toEqual(same.map(() => false));
  expect(await codes(w, login(user, 'wrong'), 5)).toEqual([...five.slice(1), LIMITED.code]);
});

test('failed attempts survive a reload and apply in other tabs, and are stored without names or passwords', async () => {
  const memory = new SharedMemory();
  const w = await world(memory);
  await codes(w, login(user, 'wrong'), 3);
  const other = new EngineWorld(createMemoryStore(memory));
  other.now = w.now;
  expect(await codes(other, login(user, 'wrong'), 2)).toEqual(five.slice(3));
  expect(await other.fault(login(user, 'p1'))).toMatchObject(LIMITED);
  w.now = other.now;
  expect(await w.fault(login(user, 'p1'))).toMatchObject(LIMITED);
  const stored = JSON.stringify(await rowsOf(w));
  expect(stored).toContain('failures/');
  expect(stored).not.toMatch(/wrong|users|example/);
  expect(await w.engine.verify()).toEqual([]);
});

test('changing the clock gives neither more attempts nor a longer block, in one session or across reloads', async () => {
  const memory = new SharedMemory();
  let passed = 0;
  const elapsed = () => passed;
  const w = await world(memory, { elapsed });
  const steps = [2 * 60 * MINUTE, -3 * 24 * 60 * MINUTE, 60 * 24 * 60 * MINUTE];
  expect(await codes(w, login(user, 'wrong'), 4)).toEqual(five.slice(1));
  w.now += 2 * 60 * MINUTE;
  expect(await codes(w, login(user, 'wrong'), 2)).toEqual([FAILED.code, LIMITED.code]);
  for (const step of steps) {
    w.now += step;
    const refused = await w.fault(login(user, 'p1'));
    expect(refused).toMatchObject(LIMITED);
    // The time in the message is in terms of the present wall clock.
    expect(refused.description).toContain(
      new Date((w.now + MINUTE) / 1000).toISOString().slice(0, 16),
    );
    // After a reload, `elapsed` starts again.
    const other = new EngineWorld(createMemoryStore(memory), { elapsed: () => passed - 5_000_000 });
    other.now = w.now + step;
    expect(await other.fault(login(user, 'p1'))).toMatchObject(LIMITED);
  }
  passed += MINUTE;
  expect(await codeOf(w, login(user, 'p1'))).toBe('ok');
});

test('a hub whose clock was ahead by a month blocks nobody until then, with or without a restart (F26)', async () => {
  const memory = new SharedMemory();
  const w = await world(memory);
  const MONTH = 30 * 24 * 60 * MINUTE;
  w.now += MONTH;
  expect(await codes(w, login(user, 'wrong'), 6)).toEqual([...five, LIMITED.code]);
  w.now -= MONTH;
  const restarted = new EngineWorld(createMemoryStore(memory));
  for (const hub of [w, restarted]) {
    hub.now = w.now;
    expect(await codeOf(hub, login(user, 'p1'))).toBe('ok');
    expect(await codes(hub, login(user, 'wrong'), 6)).toEqual([...five, LIMITED.code]);
    hub.now += MINUTE;
    expect(await codeOf(hub, login(user, 'p1'))).toBe('ok');
    w.now = hub.now;
  }
});

/** A new engine over the same store. Its clock starts at the time of the last stored attempt. */
function reloaded(memory: SharedMemory, { now }: EngineWorld): EngineWorld {
  const opened = new EngineWorld(createMemoryStore(memory), { elapsed: () => 0 });
  opened.now = now;
  return opened;
}

test('reloading after each wrong password gives no more attempts (A6)', async () => {
  const memory = new SharedMemory();
  const w = await world(memory, { elapsed: () => 0 });
  const tried: string[] = [];
  for (let i = 1; i <= 6; i += 1)
    tried.push(await codeOf(reloaded(memory, w), login(user, 'wrong')));
  expect(tried).toEqual([...five, LIMITED.code]);
});

test('two attempts at once after a reload count as two beside those before it', async () => {
  const memory = new SharedMemory();
  const w = await world(memory, { elapsed: () => 0 });
  for (let i = 1; i <= 4; i += 1) await codeOf(reloaded(memory, w), login(user, 'wrong'));
  const last = reloaded(memory, w);
  const tried = [1, 2].map(() => codeOf(last, login(user, 'wrong')));
  expect(await Promise.all(tried)).toEqual([FAILED.code, LIMITED.code]);
});

test('a user who has waited and logged in is not blocked again after a restart', async () => {
  const memory = new SharedMemory();
  let passed = 0;
  const w = await world(memory, { elapsed: () => passed });
  expect(await codes(w, login(user, 'wrong'), 6)).toEqual([...five, LIMITED.code]);
  passed += MINUTE;
  expect(await codeOf(w, login(user, 'p1'))).toBe('ok');
  let again = 0;
  const other = new EngineWorld(createMemoryStore(memory), { elapsed: () => again });
  expect(await codeOf(other, login(user, 'p1'))).toBe('ok');
  // Together with the earlier attempts, these are fifty in an hour.
  for (let i = 0; i < 9; i += 1) {
    expect(await codes(other, login(user, 'wrong'), 5)).toEqual(five);
    again += MINUTE;
  }
  expect(await codeOf(other, login(user, 'p1'))).toBe(LIMITED.code);
});

test('attempts of two tabs at the same time count as two, also when both are reloaded after each', async () => {
  const memory = new SharedMemory();
  const w = await world(memory, { elapsed: () => 0 });
  const tried: string[] = [];
  for (let i = 1; i <= 4; i += 1) {
    const tabs = [reloaded(memory, w), reloaded(memory, w)];
    tried.push(...(await Promise.all(tabs.map((tab) => codeOf(tab, login(user, 'x'))))));
  }
  expect(tried).toEqual([...five, FAILED.code, LIMITED.code, LIMITED.code]);
});

test('stored attempts that no limit needs any more are deleted', async () => {
  const w = await world();
  for (let i = 0; i < 30; i += 1) await w.answer(login(doc('users', 1000 + i), 'x'));
  expect(await rowsOf(w)).toHaveLength(30);
  w.now += 61 * MINUTE;
  for (let i = 0; i < 30; i += 1) await w.answer(login(doc('users', 2000 + i), 'x'));
  expect((await rowsOf(w)).length).toBeLessThan(40);
});

test('failed attempts count per address within a minute, and for all addresses together within an hour', async () => {
  const w = await world();
  const from = async (address: string, password: string) => {
    w.now += 1_000_000;
    const query = JSON.stringify(login(user, password));
    const request = { secret: 'root-secret', query, apiVersion: '4', allows: 'write' } as const;
    return (await w.engine.query({ ...request, address })).status;
  };
  for (let i = 0; i < 5; i += 1) expect(await from('198.51.100.1', 'wrong')).toBe(400);
  expect(await from('198.51.100.1', 'p1')).toBe(429);
  expect(await from('203.0.113.9', 'p1')).toBe(201);
  for (let i = 0; i < 45; i += 1) expect(await from(`203.0.113.${i}`, 'wrong')).toBe(400);
  w.now += 2 * MINUTE;
  expect(await from('203.0.113.99', 'p1')).toBe(429);
});

test('changing a password with the current one has the same limits as a login', async () => {
  const w = await world();
  const first = { select: ['data', 0], from: { paginate: { credentials: null } } };
  const change = (current: string): Query => ({
    update: first,
    params: obj({ password: 'n', current_password: current }),
  });
  expect(await codes(w, change('wrong'), 5)).toEqual(five.map(() => 'validation failed'));
  expect(await w.fault(change('p1'))).toMatchObject(LIMITED);
  expect(await w.fault(login(user, 'p1'))).toMatchObject(LIMITED);
  w.now += 2 * MINUTE;
  await w.ask(change('p1'));
});

async function rowsOf(w: EngineWorld): Promise<readonly unknown[]> {
  const range = { space: 'meta', by: 'key', lower: 'f', upper: 'g', reverse: false } as const;
  const all = { ...range, limit: 1000, rows: true } as Parameters<
    Parameters<Parameters<EngineWorld['store']['read']>[0]>[0]['fetch']
  >[1][number];
  return (await w.store.read((tx) => tx.fetch([], [all]))).ranges[0] ?? [];
}
