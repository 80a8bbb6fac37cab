/** On a server there is no window, no worker and no database. */
import { render } from 'svelte/server';
import { expect, test } from 'vitest';
import { q } from '../index.ts';
import CountApp from './testing/svelte-count-app.svelte';
import App from './testing/svelte-server-app.svelte';
import Everything from './testing/svelte-server.svelte';
import { SERVER_HTML } from './testing/svelte-server-html.ts';

test('on a server, components render their initial state', () => {
  const database = () => Promise.reject(new Error('A server opens nothing.'));
  const { body } = render(App, { props: { database } });
  expect(body).toContain('<i>true,false,true,idle,no sync,opening</i>');
});

test('a component without a provider throws an error that says what to do', () => {
  expect(() => render(Everything).body).toThrow('No component above has called provideBurrow()');
});

test('a server renders the HTML that the hydration test uses', () => {
  const database = () => Promise.reject(new Error('A server opens nothing.'));
  const query = q.Count(q.Documents(q.Collection('notes')));
  expect(render(CountApp, { props: { database, query } }).body).toBe(SERVER_HTML);
});
