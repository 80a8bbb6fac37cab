import { expect, test } from 'vitest';
import type { WorkerMessage } from '../../host/api.ts';
import { q } from '../../index.ts';
import { openFake } from '../testing/fake-worker.ts';

test('an answer that is read slowly and overtaken by the one before it repeats no value', async () => {
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
  db.client().subscribe(q.Now() as never, { next: (value: unknown) => seen.push(value) });
  await expect.poll(() => ids).toHaveLength(1);
  const [id = 0] = ids;
  fake.emit(answer(id, 'one'));
  await expect.poll(() => seen).toEqual(['one']);
  // Longer than what is read in one turn.
  const long = Array.from({ length: 500_000 }, (_, n) => ({ n }));
  for (const resource of [long, 'one', 'last']) fake.emit(answer(id, resource));
  await expect.poll(() => seen.at(-1)).toBe('last');
  expect(seen).toEqual(['one', 'last']);
  await db.close();
});

test('answers that come faster than they are read are shown all the same', async () => {
  const long = Array.from({ length: 200_000 }, (_, n) => ({ n }));
  const answers = 6;
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
  for (let n = 1; n <= answers; n++)
    fake.emit({
      type: 'answer',
      id,
      status: 200,
      body: JSON.stringify({ resource: [{ n }, ...long] }),
    });
  await expect.poll(() => seen.at(-1)).toBe(answers);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual(seen.toSorted((one, other) => one - other));
  await db.close();
});
