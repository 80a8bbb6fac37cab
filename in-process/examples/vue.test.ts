// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { createApp, h } from 'vue';
import { q } from 'burrowdb';
import { openDatabase } from 'burrowdb/testing';
import { provideBurrow, useMutation, useQuery } from 'burrowdb/vue';

const todos = q.Collection<{ title: string }>('todos');

/** In an app, a file `Todos.vue`. */
const Todos = {
  setup() {
    const { value } = useQuery(q.Count(q.Documents(todos)));
    const { run: add } = useMutation((title: string) => q.Create(todos, { data: { title } }));
    const onClick = () => add('feed the heron');
    return () => h('button', { onClick }, `${value.value ?? '…'} to-dos`);
  },
};

test('a to-do that is added is counted', async () => {
  const database = await openDatabase();
  await database.client().query(q.CreateCollection({ name: 'todos' }));
  const app = createApp({
    setup() {
      provideBurrow({ database });
      return () => h(Todos);
    },
  });
  app.mount(document.body);
  await expect.poll(() => document.body.textContent).toBe('0 to-dos');
  document.querySelector('button')?.click();
  await expect.poll(() => document.body.textContent).toBe('1 to-dos');
  app.unmount();
  await database.close();
});
