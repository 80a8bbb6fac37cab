import { expect, test } from 'vitest';
import { createComponent, createRenderEffect } from 'solid-js';
import { render } from 'solid-js/web';
import { q } from 'burrowdb';
import { BurrowProvider, useMutation, useQuery } from 'burrowdb/solid';
import { openDatabase } from 'burrowdb/testing';

const todos = q.Collection<{ title: string }>('todos');

/** In an app, with JSX: `<button onClick={…}>{count.value} to-dos</button>`. */
function Todos() {
  const count = useQuery(q.Count(q.Documents(todos)));
  const { run: add } = useMutation((title: string) => q.Create(todos, { data: { title } }));
  const button = document.createElement('button');
  button.addEventListener('click', () => void add('feed the heron'));
  createRenderEffect(() => {
    button.textContent = `${count.value ?? '…'} to-dos`;
  });
  return button;
}

test('a to-do that is added is counted', async () => {
  const database = await openDatabase();
  await database.client().query(q.CreateCollection({ name: 'todos' }));
  const unmount = render(
    () =>
      createComponent(BurrowProvider, {
        database,
        get children() {
          return createComponent(Todos, {});
        },
      }),
    document.body,
  );
  await expect.poll(() => document.body.textContent).toContain('0 to-dos');
  document.querySelector('button')?.click();
  await expect.poll(() => document.body.textContent).toContain('1 to-dos');
  unmount();
  await database.close();
});
