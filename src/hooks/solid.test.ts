/** On a server there is no window, no worker and no database. */
import { createComponent } from 'solid-js';
import { renderToString } from 'solid-js/web';
import { expect, test } from 'vitest';
import { q } from '../index.ts';
import { BurrowProvider, useMutation, usePages, useQuery, useSession, useSync } from './solid.ts';

test('primitives render on a server as if nothing was there yet', () => {
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

test('a primitive without a provider says what to do', () => {
  const alone = () => renderToString(() => useSession().state);
  expect(alone).toThrow('There is no <BurrowProvider> above');
});
