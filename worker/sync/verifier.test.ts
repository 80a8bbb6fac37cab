import { expect, test } from 'vitest';
import { EngineWorld } from '../../src/engine/testing/engine-world.ts';
import { passwordChecks } from '../../hosts/passwords.ts';
import { createMemoryStore, SharedMemory } from '../../src/store/memory.ts';
import { runJob } from '../passwords/run-job.ts';
import { OfflineLogin } from './verifier.ts';

const DAY = 86_400_000_000;
const MINUTE = 60_000_000;
const USER = 'https://hub alice';

function open(memory = new SharedMemory()) {
  const world = new EngineWorld(createMemoryStore(memory));
  const time = { passed: 0 };
  const login = new OfflineLogin({
    store: world.store,
    transactions: world.engine.transactions,
    clock: () => world.now,
    elapsed: () => time.passed,
    hash: (password) => Promise.resolve(`hash of ${password}`),
    verify: (password, hash) => Promise.resolve(hash === `hash of ${password}`),
  });
  return { memory, world, time, login };
}

const WHY = 'The hub is away.';
const UNKNOWN = { code: 'connection_needed' };
const LIMITED = { code: 'too many requests' };

test('OfflineLogin accepts the password of the user who logged in last, for 30 days (A6)', async () => {
  const { world, login } = open();
  await expect(login.check(USER, 'right', WHY)).rejects.toMatchObject(UNKNOWN);
  await login.remember(USER, 'right', 1);
  expect(await login.check(USER, 'right', WHY)).toBe(true);
  expect(await login.check(USER, 'wrong', WHY)).toBe(false);
  await expect(login.check('https://hub bob', 'right', WHY)).rejects.toMatchObject(UNKNOWN);
  world.now += 30 * DAY + 1000;
  await expect(login.check(USER, 'right', WHY)).rejects.toMatchObject(UNKNOWN);
});

test('setting the clock back does not extend OfflineLogin, even after a reload (A6)', async () => {
  const { memory, world, login } = open();
  await login.remember(USER, 'right', 1);
  const start = world.now;
  world.now = start + 20 * DAY;
  // Nothing else is written on this day.
  expect(await login.check(USER, 'right', WHY)).toBe(true);
  world.now = start;
  const later = open(memory);
  later.world.now = start + 9 * DAY;
  expect(await later.login.check(USER, 'right', WHY)).toBe(true);
  later.world.now = start + 31 * DAY;
  await expect(later.login.check(USER, 'right', WHY)).rejects.toMatchObject(UNKNOWN);
  later.world.now = start;
  await expect(later.login.check(USER, 'right', WHY)).rejects.toMatchObject(UNKNOWN);
});

test('OfflineLogin limits wrong guesses across clock changes and a reload (A6)', async () => {
  const { memory, world, time, login } = open();
  await login.remember(USER, 'right', 1);
  for (let i = 0; i < 5; i++) {
    world.now += (i % 2 ? -1 : 1) * 90 * MINUTE;
    expect(await login.check(USER, `guess ${i}`, WHY)).toBe(false);
  }
  await expect(login.check(USER, 'right', WHY)).rejects.toMatchObject(LIMITED);
  world.now += 90 * MINUTE;
  await expect(login.check(USER, 'right', WHY)).rejects.toMatchObject(LIMITED);
  const reloaded = open(memory);
  reloaded.world.now = world.now + DAY;
  await expect(reloaded.login.check(USER, 'right', WHY)).rejects.toMatchObject(LIMITED);
  time.passed += MINUTE;
  world.now = reloaded.world.now;
  expect(await login.check(USER, 'right', WHY)).toBe(true);
});

test('OfflineLogin accepts a password in the Unicode forms NFC and NFD', async () => {
  const { world } = open();
  const passwords = passwordChecks(4, runJob);
  const login = new OfflineLogin({
    store: world.store,
    transactions: world.engine.transactions,
    clock: () => world.now,
    elapsed: () => 0,
    hash: (password) => passwords.hash(password, 4),
    verify: (password, hash) => passwords.verify(password, hash),
  });
  // 72 bytes as stored, 108 as typed here.
  for (const password of ['caf\u00e9', '\u00e9'.repeat(36)]) {
    const forms = [password.normalize('NFC'), password.normalize('NFD')];
    for (const form of forms) {
      await login.remember(USER, form, 1);
      for (const typed of forms) expect(await login.check(USER, typed, WHY)).toBe(true);
    }
  }
  expect(await login.check(USER, `${'\u00e9'.repeat(36)}x`, WHY)).toBe(false);
});

test.each([
  ['has changed', 2],
  ['was removed', undefined],
])('OfflineLogin ends when the password at the hub %s', async (_, setAt) => {
  const { login } = open();
  await login.remember(USER, 'right', 1);
  await login.onPassword(1);
  expect(await login.check(USER, 'right', WHY)).toBe(true);
  await login.onPassword(setAt);
  await expect(login.check(USER, 'right', WHY)).rejects.toMatchObject(UNKNOWN);
});
