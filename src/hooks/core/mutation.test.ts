import { expect, test } from 'vitest';
import {
  copyAnswers,
  openFake,
  syncOptions,
  type FakeAnswers,
} from '../../client/testing/fake-worker.ts';
import { q } from '../../index.ts';
import { Mutation } from './mutation.ts';

test('a database that is closed before the hub has judged a write leaves it as it is, and disturbs nobody', async () => {
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
  const mutation = new Mutation<number>();
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
