import { expect, test } from 'vitest';
import {
  copyAnswers,
  openFake,
  syncOptions,
  type FakeAnswers,
} from '../../client/testing/fake-worker.ts';
import { q, type Client } from '../../index.ts';
import { Mutation } from './mutation.ts';
import { Session } from './session.ts';

test('closing the database before the verdict keeps the state, without an unhandled rejection', async () => {
  const submit: FakeAnswers['submit'] = () =>
    Promise.resolve({
      ok: true,
      value: {
        id: '0.1',
        answer: { status: 201, body: '{"resource":2}', metrics: undefined as never },
      },
    });
  const { db } = await openFake({ ...copyAnswers, submit });
  const { client } = await db.sync(syncOptions);
  const mutation = new Mutation<number>(() => q.Now());
  const unhandled: unknown[] = [];
  const note = (reason: unknown): unknown => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    await mutation.run({ client, query: () => q.Add(1, 1), options: {} }, []);
    await db.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
    expect(mutation.get()).toMatchObject({ state: 'local', value: 2, id: '0.1' });
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('a logout resets all mutations, including those without a subscriber', async () => {
  const { db } = await openFake({
    query: () => Promise.resolve({ status: 200, body: '{"resource":"of Ada"}' }),
  });
  const session = new Session({ database: db });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-in');
  const written = () => {
    const mutation = new Mutation<string>(() => q.Now(), {}, session);
    const run = (client: Client | undefined) =>
      mutation.run({ client, query: () => q.Concat(['of Ada']), options: {} }, []);
    return { mutation, run };
  };
  const [shown, hidden] = [written(), written()];
  const states: string[] = [];
  shown.mutation.subscribe(() => states.push(shown.mutation.get().state));
  const stop = hidden.mutation.subscribe(() => undefined);
  await Promise.all([shown.run(session.get().client), hidden.run(session.get().client)]);
  expect(shown.mutation.get()).toMatchObject({ state: 'confirmed', value: 'of Ada' });
  stop();
  await session.logOut();
  expect(shown.mutation.get()).toMatchObject({ state: 'idle', value: undefined });
  hidden.mutation.subscribe(() => undefined);
  expect(hidden.mutation.get()).toMatchObject({ state: 'idle', value: undefined });
  expect(states).toEqual(['running', 'confirmed', 'idle']);
  await db.close();
});

test('run() rejects before the database is open, and while nobody is logged in', async () => {
  const { db } = await openFake();
  let open: (database: typeof db) => void = () => undefined;
  const opened = new Promise<typeof db>((resolve) => (open = resolve));
  const session = new Session({ database: opened, loginKey: 'key' });
  session.start();
  const mutation = new Mutation<string>(() => q.Now(), {}, session);
  const run = () =>
    mutation.run({ ...session.get(), query: () => q.Concat(['x']), options: {} }, []);
  await expect(run()).rejects.toThrow('The database is not open yet');
  open(db);
  await expect.poll(() => session.get().state).toBe('logged-out');
  await expect(run()).rejects.toThrow('Nobody has logged in.');
  await db.close();
});
