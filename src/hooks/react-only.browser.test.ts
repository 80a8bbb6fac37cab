/** Features that only React has: suspense and hydration. */
import {
  Component,
  createElement,
  StrictMode,
  Suspense,
  type ReactElement,
  type ReactNode,
} from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { afterEach, expect, test } from 'vitest';
import { q, type Database, type Expr } from '../index.ts';
import { BurrowProvider, useMutation, usePages, useQuery, useSuspenseQuery } from './react.ts';
import { openNotes } from './testing/databases.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function Count({ query }: { readonly query: Expr<number> }): ReactElement {
  const { value, isLoading } = useQuery(() => query, [query]);
  return createElement('p', null, isLoading ? 'loading' : `${value} notes`);
}

function AwaitedCount({ query }: { readonly query: Expr<number> }): ReactElement {
  return createElement('p', null, `${useSuspenseQuery(query).value.toFixed(1)} notes`);
}

class Boundary extends Component<
  { readonly children: ReactNode },
  { readonly error: string | undefined }
> {
  override readonly state = { error: undefined };
  static getDerivedStateFromError = ({ message }: Error) => ({ error: message });
  override render(): ReactNode {
    return this.state.error ?? this.props.children;
  }
}

const below = (database: Database | Promise<Database>, child: ReactElement): ReactElement =>
  createElement(
    StrictMode,
    null,
    createElement(
      BurrowProvider,
      { database },
      createElement(Boundary, null, createElement(Suspense, { fallback: 'waiting' }, child)),
    ),
  );

function rendered(app: ReactElement): HTMLElement {
  const place = document.createElement('div');
  const root = createRoot(place);
  flushSync(() => root.render(app));
  ends.push(() => root.unmount());
  return place;
}

test('useSuspenseQuery() waits for the database and the value, with one subscription', async () => {
  const { db, admin, count, add, begun, live } = await openNotes();
  const place = rendered(below(Promise.resolve(db), createElement(AwaitedCount, { query: count })));
  expect(place.textContent).toBe('waiting');
  await expect.poll(() => place.textContent).toBe('0.0 notes');
  await admin.query(add('a heron'));
  await expect.poll(() => place.textContent).toBe('1.0 notes');
  expect([begun(), live()]).toEqual([1, 1]);
});

test('useSuspenseQuery() throws the error of a failed query to the error boundary', async () => {
  const { db } = await openNotes();
  const query = q.Abort('no count') as Expr<number>;
  const place = rendered(below(db, createElement(AwaitedCount, { query })));
  await expect.poll(() => place.textContent).toContain('no count');
});

test('useSuspenseQuery() throws the error of a database that cannot be opened', async () => {
  const database = Promise.reject<Database>(new Error('no room'));
  const place = rendered(below(database, createElement(AwaitedCount, { query: q.Add(1, 2) })));
  expect(place.textContent).toBe('waiting');
  await expect.poll(() => place.textContent).toBe('no room');
});

test.each([
  ['useQuery()', () => useQuery(q.Now(), { att: 'complete' } as object)],
  ['usePages()', () => usePages(q.Documents(q.Collection('notes')), { sice: 2 } as object)],
  ['useMutation()', () => useMutation(() => q.Now(), { lable: 'x' } as object)],
])('%s refuses a misspelt option', async (_, use) => {
  const { db } = await openNotes();
  const Using = () => createElement('p', null, Object.keys(use()));
  const place = rendered(below(db, createElement(Using)));
  await expect.poll(() => place.textContent).toContain('There is no option');
});

test('a server renders the loading state without opening a database, and a page hydrates it', async () => {
  const { db, count } = await openNotes();
  let opened = 0;
  const database = () => {
    opened++;
    return db;
  };
  const app = createElement(
    StrictMode,
    null,
    createElement(BurrowProvider, { database }, createElement(Count, { query: count })),
  );
  const html = renderToString(app);
  expect([html, opened]).toEqual(['<p>loading</p>', 0]);
  const place = document.createElement('div');
  place.innerHTML = html;
  const server = place.firstChild;
  const complaints: unknown[] = [];
  const onRecoverableError = (error: unknown) => complaints.push(error);
  const root = hydrateRoot(place, app, { onRecoverableError });
  ends.push(() => root.unmount());
  await expect.poll(() => place.textContent).toBe('0 notes');
  expect([complaints, opened, place.firstChild === server]).toEqual([[], 1, true]);
});

test('150 rows with different queries each show their own value', async () => {
  const { db, begun, live } = await openNotes();
  const rows = Array.from({ length: 150 }, (_, n) => n);
  // The query is built anew for each rendering.
  function Row({ n }: { readonly n: number }): ReactElement {
    const { value, isLoading } = useQuery(q.Add(n, 0));
    return createElement('i', null, isLoading ? 'loading ' : `${value} `);
  }
  const list = createElement(
    'p',
    null,
    rows.map((n) => createElement(Row, { key: n, n })),
    // The same query as that of the first row.
    createElement(Row, { key: 'again', n: 0 }),
  );
  const place = rendered(below(db, list));
  await expect.poll(() => place.textContent).toBe([...rows, 0, ''].join(' '));
  expect([begun(), live()]).toEqual([150, 150]);
});
