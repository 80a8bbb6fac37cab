/** On a server there is no window, no worker and no database. */
import { createComponent, type JSX } from 'solid-js';
import { escape, renderToString, ssr, ssrHydrationKey } from 'solid-js/web';
import { expect, test } from 'vitest';
import { q } from '../index.ts';
import { BurrowProvider, useMutation, usePages, useQuery, useSession, useSync } from './solid.ts';
import { SERVER_HTML } from './testing/solid-server-html.ts';

test('on a server, primitives render their initial state', () => {
  const notes = q.Documents(q.Collection('notes'));
  const Everything = () =>
    [
      useQuery(() => q.Count(notes)).isLoading,
      useQuery(undefined).isLoading,
      usePages(notes).isLoading,
      useMutation((text: string) => q.Create(q.Collection('notes'), { data: { text } })).state,
      useSync().state ?? 'no sync',
      useSession().state,
    ].join();
  const database = () => Promise.reject(new Error('A server opens nothing.'));
  const html = renderToString(() =>
    createComponent(BurrowProvider, {
      database,
      get children() {
        return createComponent(Everything, {});
      },
    }),
  );
  expect(html).toBe('true,false,true,idle,no sync,opening');
});

test('a server renders the HTML that the hydration test uses', () => {
  // The compiler's output for <p>{notes.isLoading ? 'loading' : `${notes.value} notes`}</p>.
  const paragraph = ['<p', '>', '</p>'];
  const Count = () => {
    const notes = useQuery(() => q.Count(q.Documents(q.Collection('notes'))));
    const text = notes.isLoading ? 'loading' : `${notes.value} notes`;
    return ssr(paragraph, ssrHydrationKey(), escape(text)) as unknown as JSX.Element;
  };
  const database = () => Promise.reject(new Error('A server opens nothing.'));
  const html = renderToString(() =>
    createComponent(BurrowProvider, {
      database,
      get children() {
        return createComponent(Count, {});
      },
    }),
  );
  expect(html).toBe(SERVER_HTML);
});

test('a primitive without a provider throws an error that says what to do', () => {
  const alone = () => renderToString(() => useSession().state);
  expect(alone).toThrow('There is no <BurrowProvider> above');
});
