// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { createRoot } from 'react-dom/client';
import { q } from 'burrowdb';
import { BurrowProvider, useMutation, useQuery } from 'burrowdb/react';
import { openDatabase } from 'burrowdb/testing';

const todos = q.Collection<{ title: string }>('todos');

function Todos() {
  const { value } = useQuery(q.Count(q.Documents(todos)));
  const { run: add } = useMutation((title: string) => q.Create(todos, { data: { title } }));
  return <button onClick={() => void add('feed the heron')}>{value ?? '…'} to-dos</button>;
}

test('a to-do that is added is counted', async () => {
  const db = await openDatabase();
  await db.client().query(q.CreateCollection({ name: 'todos' }));
  const root = createRoot(document.body);
  root.render(
    <BurrowProvider database={db}>
      <Todos />
    </BurrowProvider>,
  );
  await expect.poll(() => document.body.textContent).toBe('0 to-dos');
  document.querySelector('button')?.click();
  await expect.poll(() => document.body.textContent).toBe('1 to-dos');
  root.unmount();
  await db.close();
});
