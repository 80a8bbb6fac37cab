/** The pool on a system that has no room for threads, and under floods of logins. */
import type { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { PasswordPool, startHashingThread } from './password-pool.ts';

let pool: PasswordPool | undefined;
afterEach(() => pool?.close());

/** A pool on a system where threads can be started while there is room. */
function open({ threads, waitingMax = 2 }: { threads: number; waitingMax?: number }) {
  const system = { room: 0, started: [] as Worker[], reported: [] as unknown[] };
  pool = new PasswordPool({
    hashCost: 4,
    threads,
    waitingMax,
    report: (reason) => system.reported.push(reason),
    start() {
      if (system.room === 0)
        throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
      system.room -= 1;
      const worker = startHashingThread();
      system.started.push(worker);
      return worker;
    },
  });
  const { passwords } = pool;
  return { passwords, system };
}

const REFUSED = { code: 'storage_unavailable' };
const HASH = /^\$2b\$04\$/;

test('a password is refused at once if no thread can be started, and later ones are checked', async () => {
  const { passwords, system } = open({ threads: 1 });
  // More than the number that may wait.
  for (let i = 0; i < 5; i += 1)
    await expect(passwords.hash('secret', 4)).rejects.toMatchObject(REFUSED);
  expect(pool?.waitingCount).toBe(0);
  expect(system.reported).toHaveLength(5);
  expect(system.reported[0]).toMatchObject({ cause: { code: 'ERR_WORKER_INIT_FAILED' } });
  system.room = 1;
  const hash = await passwords.hash('secret', 4);
  expect(await passwords.verify('secret', hash)).toBe(true);
});

test('if only some threads can be started, passwords wait for those', async () => {
  const { passwords, system } = open({ threads: 3, waitingMax: 10 });
  system.room = 1;
  const hashes = await Promise.all(['a', 'b', 'c', 'd'].map((each) => passwords.hash(each, 4)));
  for (const hash of hashes) expect(hash).toMatch(HASH);
  expect(system.started).toHaveLength(1);
});

test('if the only thread has ended and none can be started, queued passwords are refused', async () => {
  const { passwords, system } = open({ threads: 1, waitingMax: 10 });
  system.room = 1;
  await passwords.hash('first', 4);
  const [worker] = system.started;
  // The highest cost, so this job never ends.
  const busy = passwords.hash('busy', 31);
  const waiting = passwords.hash('waiting', 4);
  worker?.emit('error', new Error('ERR_WORKER_OUT_OF_MEMORY'));
  await expect(busy).rejects.toThrow('OUT_OF_MEMORY');
  await expect(waiting).rejects.toMatchObject(REFUSED);
  await worker?.terminate();
  system.room = 1;
  expect(await passwords.hash('late', 4)).toMatch(HASH);
});

test('many logins from one address delay a login from another address by one at most', async () => {
  const { passwords, system } = open({ threads: 1, waitingMax: 100 });
  system.room = 1;
  const hash = await passwords.hash('secret', 4);
  const ends: string[] = [];
  const login = (address: string) =>
    passwords.verify('secret', hash, address).then(() => ends.push(address));
  const flood = Array.from({ length: 20 }, () => login('10.0.0.1'));
  const others = ['10.0.0.2', '10.0.0.3'].map(login);
  await Promise.all([...flood, ...others]);
  expect(ends.slice(0, 4).toSorted()).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.3']);
});

test('an address that fills the queue does not keep other addresses out', async () => {
  const { passwords, system } = open({ threads: 1, waitingMax: 3 });
  system.room = 1;
  const hash = await passwords.hash('secret', 4);
  const login = (address: string): Promise<unknown> =>
    passwords
      .verify('secret', hash, address)
      .catch((reason: unknown) => (reason as { readonly code: string }).code);
  const flood = Array.from({ length: 6 }, () => login('10.0.0.1'));
  const other = login('10.0.0.2');
  expect(await other).toBe(true);
  const refused = 'too many requests';
  expect(await Promise.all(flood)).toEqual([true, true, true, refused, refused, refused]);
});
