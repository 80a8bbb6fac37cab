import { mount, unmount } from 'svelte';
import { expect, test } from 'vitest';
import { q } from 'burrowdb';
import { openDatabase } from 'burrowdb/testing';
import App from './app.svelte';

test('a to-do that is added is counted', async () => {
  const database = await openDatabase();
  await database.client().query(q.CreateCollection({ name: 'todos' }));
  const app = mount(App, { target: document.body, props: { database } });
  await expect.poll(() => document.body.textContent).toContain('0 to-dos');
  document.querySelector('button')?.click();
  await expect.poll(() => document.body.textContent).toContain('1 to-dos');
  await unmount(app);
  await database.close();
});
