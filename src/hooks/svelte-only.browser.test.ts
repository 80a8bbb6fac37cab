/** Hydration, which differs by framework. */
import { hydrate, unmount } from 'svelte';
import { expect, test, vi } from 'vitest';
import { openNotes } from './testing/databases.ts';
import App from './testing/svelte-count-app.svelte';
import { SERVER_HTML } from './testing/svelte-server-html.ts';

test('a page hydrates the HTML of a server', async () => {
  const { db, count: query } = await openNotes();
  let opened = 0;
  const database = () => {
    opened++;
    return db;
  };
  const place = document.createElement('div');
  place.innerHTML = SERVER_HTML;
  const server = place.querySelector('p');
  const warn = vi.spyOn(console, 'warn');
  const app = hydrate(App, { target: place, props: { database, query }, recover: false });
  try {
    await expect.poll(() => place.textContent).toBe('0 notes');
    expect([warn.mock.calls, opened, place.querySelector('p') === server]).toEqual([[], 1, true]);
  } finally {
    await unmount(app);
    warn.mockRestore();
  }
});
