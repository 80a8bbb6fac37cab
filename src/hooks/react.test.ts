/** On a server there is no window, no worker and no database. */
import { createElement, Suspense } from 'react';
import { renderToReadableStream, renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { q, type Expr } from '../index.ts';
import {
  BurrowProvider,
  useMutation,
  usePages,
  useQuery,
  useSession,
  useSuspenseQuery,
  useSync,
} from './react.ts';

test('on a server, hooks render their initial state', () => {
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

test('a streaming server ends its response with the fallback of `<Suspense>`', async () => {
  const query = q.Count(q.Documents(q.Collection('notes')));
  const Awaited = () => createElement('i', null, useSuspenseQuery(query).value);
  const app = createElement(
    BurrowProvider,
    { database: () => Promise.reject(new Error('A server opens nothing.')) },
    createElement(Suspense, { fallback: 'waiting' }, createElement(Awaited)),
  );
  const errors: unknown[] = [];
  const stream = await renderToReadableStream(app, { onError: (error) => void errors.push(error) });
  await stream.allReady;
  expect(await new Response(stream).text()).toContain('waiting');
  expect(errors).toMatchObject([{ code: 'invalid_usage' }]);
});

test('useSuspenseQuery() throws if the query is undefined', () => {
  const Awaited = () =>
    createElement('i', null, useSuspenseQuery(undefined as unknown as Expr<string>).value);
  const props = { database: () => Promise.reject(new Error('A server opens nothing.')) };
  const app = createElement(BurrowProvider, props, createElement(Awaited));
  expect(() => renderToString(app)).toThrow('useSuspenseQuery() got no query');
});

test('a hook without a provider throws an error that says what to do', () => {
  const alone = () => renderToString(createElement(() => useSession().state));
  expect(alone).toThrow('There is no <BurrowProvider> above');
});
