// @vitest-environment jsdom
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, test, vi } from 'vitest';
import type * as burrow from 'burrowdb';
import { q } from 'burrowdb';
import { BurrowProvider, useQuery, useSession } from 'burrowdb/react';
import { openDatabase, openHub } from 'burrowdb/testing';
import { SharedDevice } from './examples/people.tsx';
import { Sites } from './examples/search.tsx';

const openedNames: string[] = [];
const closing: (() => unknown)[] = [];
/** A page would open the database of a person in IndexedDB. */
vi.mock('burrowdb', async (original) => {
  const actual = await original<typeof burrow>();
  const open = async (name: string, options: { readonly identity?: string }) => {
    if (options.identity === undefined) return actual.openDatabase(name, options);
    openedNames.push(`${name} of ${options.identity}`);
    return opened(await openDatabase(`${name} of ${options.identity}`));
  };
  return { ...actual, openDatabase: open };
});

function opened<Opened extends { close: () => Promise<void> }>(each: Opened): Opened {
  closing.push(() => each.close());
  return each;
}
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Shows the node in the page. */
function show(node: ReactNode): void {
  const root = createRoot(document.body);
  closing.push(() => root.unmount());
  root.render(<StrictMode>{node}</StrictMode>);
}

const text = () => document.body.textContent;
const press = (label: string): void =>
  [...document.querySelectorAll('button')]
    .find(({ textContent }) => textContent === label)
    ?.click();

test('docs/react.md: a list that is searched is never empty while it is loaded', async () => {
  const database = opened(await openDatabase());
  const admin = database.client();
  await admin.query(q.CreateCollection({ name: 'sites' }));
  await admin.query(
    q.CreateIndex({
      name: 'sites_by_name',
      source: q.Collection('sites'),
      values: [{ field: ['data', 'name'] }, { field: 'ref' }],
    }),
  );
  for (const name of ['Dam', 'Mill', 'Mole'])
    await admin.query(q.Create(q.Collection('sites'), { data: { name } }));
  show(
    <BurrowProvider database={database}>
      <Sites />
    </BurrowProvider>,
  );
  const shown = () => [...document.querySelectorAll('li')].map(({ textContent }) => textContent);
  await expect.poll(shown).toEqual(['Dam', 'Mill', 'Mole']);
  const lists: string[][] = [];
  new MutationObserver(() => lists.push(shown())).observe(document.body, {
    subtree: true,
    childList: true,
  });
  const input = document.querySelector('input') ?? document.body;
  for (const typed of ['M', 'Mo']) {
    // The setter of the prototype: React ignores an event if its own setter saw the change.
    Reflect.set(HTMLInputElement.prototype, 'value', typed, input);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }
  await expect.poll(shown).toEqual(['Mole']);
  expect(lists).not.toContainEqual([]);
});

test('docs/react.md: two people use one device, each with a database that is opened once', async () => {
  const hub = opened(await openHub());
  const admin = hub.client();
  const [users, todos] = [q.Collection('users'), q.Collection<{ title: string }>('todos')];
  for (const name of ['users', 'todos']) await admin.query(q.CreateCollection({ name }));
  await admin.query(
    q.CreateIndex({
      name: 'users_by_email',
      source: users,
      terms: [{ field: ['data', 'email'] }],
      permissions: { read: 'public' },
    }),
  );
  await admin.query(
    q.CreateRole({
      name: 'person',
      membership: { resource: users },
      privileges: { resource: todos, actions: { read: true } },
    }),
  );
  for (const email of ['ada', 'ben'])
    await admin.query(q.Create(users, { data: { email }, credentials: { password: email } }));
  const { secret: loginKey } = await admin.query(q.CreateKey({ role: 'client' }));

  function App() {
    const { state, logIn } = useSession();
    const { value } = useQuery(q.Select(['data', 'email'], q.Get(q.CurrentIdentity())));
    const enter = (email: string) => () =>
      void logIn({ user: q.Match(q.Index('users_by_email'), email), password: email });
    return (
      <>
        {['ada', 'ben'].map((email) => (
          <button key={email} onClick={enter(email)}>
            password of {email}
          </button>
        ))}
        {state}: {value}
      </>
    );
  }
  show(
    <SharedDevice
      emails={['ada', 'ben']}
      loginKey={loginKey}
      sync={{ url: hub.url, sets: [q.Documents(todos), q.Documents(users)] }}
    >
      <App />
    </SharedDevice>,
  );
  for (const [email, state] of [
    ['ada', 'logged-out'],
    ['ben', 'logged-out'],
    ['ada', 'locked'],
  ] as const) {
    await expect.poll(text).toBe('adaben');
    press(email);
    await expect.poll(text).toContain(`${state}: `);
    press(`password of ${email}`);
    await expect.poll(text).toContain(`logged-in: ${email}`);
    press('Log out');
  }
  await expect.poll(text).toBe('adaben');
  expect(openedNames).toEqual(['todos of ada', 'todos of ben']);
});
