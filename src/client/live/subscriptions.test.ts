import { expect, onTestFinished, test, vi } from 'vitest';
import type { WorkerMessage } from '../../host/api.ts';
import { q } from '../../index.ts';
import { openFake } from '../testing/fake-worker.ts';

test('an answer that is overtaken while it is decoded is not shown, nor is a value repeated', async () => {
  const answer = (id: number, resource: unknown): WorkerMessage => ({
    type: 'answer',
    id,
    status: 200,
    body: JSON.stringify({ resource }),
  });
  const ids: number[] = [];
  const { db, fake } = await openFake({
    onMessage: (message) => message.type === 'subscribe' && ids.push(message.id),
  });
  const seen: unknown[] = [];
  db.client().subscribe(q.Now() as never, {
    next: (value: unknown) => seen.push(Array.isArray(value) ? value.length : value),
  });
  await expect.poll(() => ids).toHaveLength(1);
  const [id = 0] = ids;
  fake.emit(answer(id, 'one'));
  await expect.poll(() => seen).toEqual(['one']);
  // Decoding one of these takes longer than one turn of the event loop.
  const long = Array.from({ length: 200_000 }, (_, n) => ({ n }));
  for (const resource of [long, 'one', 'last', [...long, 'end']]) fake.emit(answer(id, resource));
  await expect.poll(() => seen.at(-1)).toBe(200_001);
  expect(seen).toEqual(['one', 'last', 200_001]);
  await db.close();
});

test('answers that arrive faster than they are decoded are all shown', async () => {
  // Each reading of the clock is a slice later, so the number of turns does not depend on the machine.
  let clock = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => (clock += 1000));
  onTestFinished(() => now.mockRestore());
  const long = Array.from({ length: 50_000 }, (_, n) => ({ n }));
  const answers = [1, 2, 3, 4, 5, 6];
  let id = 0;
  const { db, fake } = await openFake({
    onMessage: (message) => {
      if (message.type === 'subscribe') id = message.id;
    },
  });
  const seen: number[] = [];
  db.client().subscribe(q.Now() as never, {
    next: ([first]: typeof long) => seen.push(first?.n ?? 0),
  });
  await expect.poll(() => id).toBe(1);
  for (const n of answers)
    fake.emit({
      type: 'answer',
      id,
      status: 200,
      body: JSON.stringify({ resource: [{ n }, ...long] }),
    });
  await expect.poll(() => seen.at(-1)).toBe(6);
  expect(seen).toEqual(answers);
  await db.close();
});

test('observers that subscribe again when the database is closed or locked do not block the page', async () => {
  for (const how of ['close', 'lock'] as const) {
    const { db, fake } = await openFake();
    let ends = 0;
    const subscribe = (): void => {
      db.client().subscribe(q.Now(), {
        next: () => undefined,
        closed: () => {
          ends += 1;
          if (ends < 10_000) subscribe();
        },
      });
    };
    subscribe();
    if (how === 'close') await db.close();
    else fake.emit({ type: 'locked' });
    // The page's own tasks run between the attempts.
    await new Promise((resolve) => setTimeout(resolve));
    expect(ends).toBeGreaterThan(0);
    expect(ends).toBeLessThan(10_000);
    ends = 10_000;
    await db.close();
  }
});
