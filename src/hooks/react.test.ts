/** On a server there is no window, no worker and no database. */
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { q } from '../index.ts';
import { BurrowProvider, useMutation, usePages, useQuery, useSession, useSync } from './react.ts';

test('hooks render on a server as if nothing was there yet', () => {
  const notes = q.Documents(q.Collection('notes'));
  function Everything() {
    const received = [
      useQuery(q.Count(notes)).isLoading,
      useQuery(undefined).isLoading,
      usePages(notes).isLoading,
      useMutation((text: string) => q.Create(q.Collection('notes'), { data: { text } })).state,
      useSync().state ?? null,
      useSession().state,
    ];
    return createElement('i', null, JSON.stringify(received));
  }
  const database = () => Promise.reject(new Error('A server opens nothing.'));
  const html = renderToString(
    createElement(BurrowProvider, { database }, createElement(Everything)),
  );
  expect(html).toBe('<i>[true,false,true,&quot;idle&quot;,null,&quot;opening&quot;]</i>');
});

test('a hook without a provider says what to do', () => {
  const alone = () => renderToString(createElement(() => useSession().state));
  expect(alone).toThrow('There is no <BurrowProvider> above');
});
