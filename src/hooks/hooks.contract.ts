/** The behaviour of the hooks in every framework. Each framework calls this suite with components of its own. */
import { afterEach, expect, test } from 'vitest';
import { q, type Expr, type Ref } from '../index.ts';
import { fakeCopy, openNotes } from './testing/databases.ts';
import type { Mounted, MountParts, Part, Parts, Uses } from './testing/kit.ts';
import type { BurrowOptions } from './core/session.ts';

/** Records everything that a part was given, in order, each state once. */
function recorder<Use extends keyof Uses>() {
  const seen: Uses[Use][] = [];
  const report = (used: Uses[Use]): void => {
    if (JSON.stringify(used) !== JSON.stringify(seen.at(-1))) seen.push(used);
  };
  const last = (): Uses[Use] => {
    const used = seen.at(-1);
    if (!used) throw new Error('Nothing was rendered.');
    return used;
  };
  return { seen, report, last };
}

const SET = q.Documents(q.Collection('notes'));

export function describeHooks(mountParts: MountParts): void {
  const mounted: Mounted[] = [];
  const mount = (options: BurrowOptions, parts: Parts): Mounted => {
    const app = mountParts(options, parts);
    mounted.push(app);
    return app;
  };
  const asked = (query: Expr | undefined) => {
    const { report, ...record } = recorder<'query'>();
    const part: Part = { use: 'query', query, report };
    return { ...record, part };
  };

  afterEach(() => {
    for (const app of mounted.splice(0)) app.unmount();
  });

  test('a query is loading, then has its value, and then every later value', async () => {
    const { db, admin, count: query, add } = await openNotes();
    const count = asked(query);
    mount({ database: () => Promise.resolve(db) }, { count: count.part });
    expect(count.last()).toMatchObject({
      value: undefined,
      isLoading: true,
      isStale: false,
      partial: [],
    });
    await expect.poll(() => count.last().value).toBe(0);
    await admin.query(add('a heron'));
    await expect.poll(() => count.last()).toMatchObject({ value: 1, isLoading: false });
    expect(count.seen.map(({ value }) => value)).toEqual([undefined, 0, 1]);
  });

  test('equal queries share one subscription, which ends with the last of them', async () => {
    const { db, count, notes, begun, live } = await openNotes();
    const [one, other] = [asked(count), asked(q.Count(notes))];
    const app = mount({ database: db }, { one: one.part, other: other.part });
    await expect.poll(() => [one.last().value, other.last().value]).toEqual([0, 0]);
    expect([begun(), live()]).toEqual([1, 1]);
    app.update({ other: other.part });
    await expect.poll(() => other.last().value).toBe(0);
    expect(live()).toBe(1);
    app.update({});
    await expect.poll(live).toBe(0);
    expect(begun()).toBe(1);
  });

  test('a query that is used again has its last value at once, as stale, and then the new one', async () => {
    const { db, admin, count, add, live } = await openNotes();
    const first = asked(count);
    const app = mount({ database: db }, { first: first.part });
    await expect.poll(() => first.last().value).toBe(0);
    app.update({});
    await expect.poll(live).toBe(0);
    await admin.query(add('a heron'));
    const again = asked(count);
    app.update({ again: again.part });
    await expect.poll(() => again.last().value).toBe(1);
    expect(again.seen).toMatchObject([
      { value: 0, isLoading: false, isStale: true },
      { value: 1, isLoading: false, isStale: false },
    ]);
  });

  test('an undefined query waits, and a changed query replaces the subscription', async () => {
    const { db, count, begun, live } = await openNotes();
    const record = recorder<'query'>();
    const part = (query: Expr | undefined): Parts => ({
      part: { use: 'query', query, report: record.report },
    });
    const app = mount({ database: db }, part(undefined));
    const session = recorder<'session'>();
    app.update({ ...part(undefined), session: { use: 'session', report: session.report } });
    await expect.poll(() => session.last().state).toBe('logged-in');
    expect(record.last()).toMatchObject({ value: undefined, isLoading: false });
    expect(begun()).toBe(0);
    app.update(part(count));
    await expect.poll(() => record.last().value).toBe(0);
    app.update(part(q.Concat(['a', 'b'])));
    await expect.poll(() => record.last().value).toBe('ab');
    await expect.poll(() => [begun(), live()]).toEqual([2, 1]);
  });

  test('a failed query has an error, and a value as soon as it can be answered', async () => {
    const { db, admin, collection } = await openNotes();
    const found = asked(q.Get(q.Ref(collection, '1')));
    mount({ database: db }, { found: found.part });
    await expect.poll(() => found.last().error?.code).toBe('instance not found');
    expect(found.last()).toMatchObject({ value: undefined, isLoading: false });
    await admin.query(q.Create(q.Ref(collection, '1'), { data: { text: 'a wren' } }));
    await expect.poll(() => found.last().value).toMatchObject({ data: { text: 'a wren' } });
    expect(found.last().error).toBeUndefined();
    await admin.query(q.Delete(q.Ref(collection, '1')));
    await expect
      .poll(() => found.last())
      .toMatchObject({
        value: { data: { text: 'a wren' } },
        error: { code: 'instance not found' },
        isStale: true,
      });
  });

  test('pages go forward and back, and the current page is live', async () => {
    const { db, admin, notes, collection } = await openNotes();
    const create = (id: number) => q.Create(q.Ref(collection, `${id}`), { data: {} });
    for (const id of [1, 2, 3, 4, 5]) await admin.query(create(id));
    const { report, last } = recorder<'pages'>();
    mount({ database: db }, { pages: { use: 'pages', set: notes, size: 2, report } });
    const shown = () => last().data?.map((ref) => (ref as { id: string }).id);
    const ways = () => [last().hasPrevious, last().hasNext];
    expect(last().isLoading).toBe(true);
    await expect.poll(shown).toEqual(['1', '2']);
    expect(ways()).toEqual([false, true]);
    last().next();
    await expect.poll(shown).toEqual(['3', '4']);
    expect(ways()).toEqual([true, true]);
    await admin.query(q.Delete(q.Ref(collection, '3')));
    await expect.poll(shown).toEqual(['4', '5']);
    expect(ways()).toEqual([true, false]);
    last().next();
    last().previous();
    await expect.poll(shown).toEqual(['1', '2']);
  });

  test('the elements of pages are mapped in the database', async () => {
    const { db, admin, notes, collection } = await openNotes();
    const create = (id: number) =>
      q.Create(q.Ref(collection, `${id}`), { data: { text: `n${id}` } });
    for (const id of [1, 2, 3]) await admin.query(create(id));
    const { report, last } = recorder<'pages'>();
    const textOf = (prefix: string) => (ref: Expr<Ref>) =>
      q.Concat([prefix, q.Select(['data', 'text'], q.Get(ref))]);
    const pages = (prefix: string) =>
      ({ pages: { use: 'pages', set: notes, size: 2, map: textOf(prefix), report } }) as const;
    const app = mount({ database: db }, pages('a '));
    const shown = () => last().data;
    await expect.poll(shown).toEqual(['a n1', 'a n2']);
    await admin.query(q.Update(q.Ref(collection, '1'), { data: { text: 'new' } }));
    await expect.poll(shown).toEqual(['a new', 'a n2']);
    last().next();
    await expect.poll(shown).toEqual(['a n3']);
    // A function that is built anew is the same function while it makes the same query.
    app.update(pages('a '));
    expect(shown()).toEqual(['a n3']);
    app.update(pages('b '));
    await expect.poll(shown).toEqual(['b new', 'b n2']);
  });

  test('pages without a set wait without loading, and load when there is a set', async () => {
    const { db, notes } = await openNotes();
    const { report, last } = recorder<'pages'>();
    const pagesOf = (set: typeof notes | undefined) =>
      ({ pages: { use: 'pages', set, size: 2, report } }) as const;
    const session = recorder<'session'>();
    const parts = { session: { use: 'session', report: session.report } } as const;
    const app = mount({ database: db }, { ...parts, ...pagesOf(undefined) });
    await expect.poll(() => session.last().state).toBe('logged-in');
    expect(last()).toMatchObject({ data: undefined, isLoading: false, hasNext: false });
    app.update({ ...parts, ...pagesOf(notes) });
    await expect.poll(() => last().data).toEqual([]);
    app.update({ ...parts, ...pagesOf(undefined) });
    await expect.poll(last).toMatchObject({ data: undefined, isLoading: false });
  });

  test('a mutation reports its state; without a hub a stored write is confirmed', async () => {
    const { db, add } = await openNotes();
    const { report, last, seen } = recorder<'mutation'>();
    const query = (text: string) =>
      q.If(q.Equals(text, ''), q.Abort('No text.'), q.Select('data', add(text)));
    mount({ database: db }, { add: { use: 'mutation', query, report } });
    const run = (text: string) => last().run(text as never);
    expect(last().state).toBe('idle');
    const session = recorder<'session'>();
    mount({ database: db }, { session: { use: 'session', report: session.report } });
    await expect.poll(() => session.last().state).toBe('logged-in');
    expect(await run('a heron')).toEqual({ text: 'a heron' });
    await expect.poll(() => last().state).toBe('confirmed');
    expect(seen.map(({ state }) => state)).toEqual(['idle', 'running', 'confirmed']);
    await expect(run('')).rejects.toMatchObject({ code: 'transaction aborted' });
    await expect.poll(() => last()).toMatchObject({ state: 'failed', value: undefined });
    expect(last().error?.description).toBe('No text.');
    last().reset();
    await expect.poll(() => last().state).toBe('idle');
    // The promise is not used: the test would fail if it counted as an unhandled rejection.
    void run('');
    await expect.poll(() => last().state).toBe('failed');
  });

  test('a mutation of a copy is local, then has the verdict; refused ones are listed with labels', async () => {
    const copy = fakeCopy({ isKnown: true });
    const [add, sync] = [recorder<'mutation'>(), recorder<'sync'>()];
    const query = (text: string) => q.Create(q.Collection('notes'), { data: { text } });
    const options = {
      label: (text: string) => `Add “${text}”`,
      data: (text: string) => ({ text }),
    };
    mount(
      { database: copy.open, sync: { url: 'http://hub', sets: [SET] } },
      {
        add: {
          use: 'mutation',
          query,
          options,
          report: add.report,
        },
        sync: { use: 'sync', report: sync.report },
      },
    );
    expect(sync.last()).toMatchObject({ state: undefined, pending: 0, refused: [] });
    await expect.poll(() => sync.last().state).toBe('live');
    expect(await add.last().run('a heron' as never)).toBe('here');
    await expect.poll(() => add.last()).toMatchObject({ state: 'local', value: 'here', id: '0.1' });
    copy.judge('0.1', { state: 'amended', body: '{"resource":"there"}' });
    await expect.poll(() => add.last()).toMatchObject({ state: 'amended', value: 'there' });

    await add.last().run('a wren' as never);
    const body = '{"errors":[{"code":"permission denied","description":"No more birds."}]}';
    copy.judge('0.2', { state: 'refused', body });
    await expect.poll(() => add.last().state).toBe('refused');
    expect(add.last().error?.code).toBe('permission denied');
    const expected = { id: '0.2', label: 'Add “a wren”', data: { text: 'a wren' } };
    await expect.poll(() => sync.last().refused).toMatchObject([expected]);
    copy.emitState('offline');
    await expect.poll(() => sync.last().state).toBe('offline');
    await sync.last().resolve('0.2', { discard: true });
    await expect.poll(() => sync.last().refused).toEqual([]);
  });

  test('a query chooses where it is answered, and reports where its value is from', async () => {
    const copy = fakeCopy({ isKnown: true });
    const query = q.Count(SET);
    const [here, there] = [recorder<'query'>(), recorder<'query'>()];
    const choices = { at: 'hub-or-copy' } as const;
    mount(
      { database: copy.open, sync: { url: 'http://hub', sets: [SET] } },
      {
        here: { use: 'query', query, report: here.report },
        there: { use: 'query', query, choices, report: there.report },
      },
    );
    expect(there.last()).toMatchObject({ value: undefined, from: undefined });
    await expect
      .poll(() => there.last())
      .toMatchObject({ value: 'of the hub', from: 'hub', partial: [] });
    await expect
      .poll(() => here.last())
      .toMatchObject({
        value: 'of the copy',
        from: 'device',
        partial: [{ collection: 'notes' }],
      });
  });

  test('a session handles a wrong and a right password, logout, and another login', async () => {
    const copy = fakeCopy({ isKnown: false });
    const [session, shown] = [recorder<'session'>(), asked(q.Count(SET))];
    mount(
      {
        database: copy.open,
        sync: { url: 'http://hub', sets: [SET] },
        loginKey: 'key of the hub',
      },
      { session: { use: 'session', report: session.report }, shown: shown.part },
    );
    const state = () => session.last().state;
    const logIn = (password: string) => session.last().logIn({ user: 'ada', password });
    expect(state()).toBe('opening');
    await expect.poll(state).toBe('logged-out');
    expect(session.last()).toMatchObject({ error: undefined, client: undefined });
    expect(shown.last()).toMatchObject({ value: undefined, isLoading: true });
    copy.refuseNext();
    await expect(logIn('wrong')).rejects.toMatchObject({ code: 'authentication failed' });
    expect(state()).toBe('logged-out');
    await logIn('right');
    await expect.poll(state).toBe('logged-in');
    expect(copy.calls.at(-1)).toMatchObject({
      login: { password: 'right', key: 'key of the hub' },
    });
    await expect.poll(() => shown.last().value).toBe('of the copy');
    expect(shown.last().partial).toEqual([{ collection: 'notes' }]);

    await session.last().logOut();
    await expect.poll(state).toBe('locked');
    await expect.poll(() => shown.last()).toMatchObject({ value: undefined, isLoading: true });
    await expect(logIn('wrong')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(state()).toBe('locked');
    await logIn('right');
    await expect.poll(state).toBe('logged-in');
    await expect.poll(() => shown.last().value).toBe('of the copy');
    // No other value was shown in between.
    const values = shown.seen.map(({ value }) => value);
    expect(values.filter((value, at) => value !== values[at - 1] || at === 0)).toEqual([
      undefined,
      'of the copy',
      undefined,
      'of the copy',
    ]);

    copy.emitState('locked');
    await expect.poll(state).toBe('locked');
    await logIn('right');
    await expect.poll(state).toBe('logged-in');
  });

  test('a session has the error of a database that does not open', async () => {
    const { report, last } = recorder<'session'>();
    const error = new Error('no storage');
    mount({ database: () => Promise.reject(error) }, { session: { use: 'session', report } });
    await expect.poll(() => last().state).toBe('failed');
    expect(last().error).toBe(error);
  });

  test('queries, pages and mutations have the error of a database that does not open', async () => {
    const error = new Error('no storage');
    const count = asked(q.Count(SET));
    const [pages, add] = [recorder<'pages'>(), recorder<'mutation'>()];
    mount(
      { database: () => Promise.reject(error) },
      {
        count: count.part,
        pages: { use: 'pages', set: SET, size: 2, report: pages.report },
        add: { use: 'mutation', query: () => q.Now(), report: add.report },
      },
    );
    expect(count.last()).toMatchObject({ error: undefined, isLoading: true });
    await expect.poll(() => count.last()).toMatchObject({ error, isLoading: false });
    await expect.poll(() => pages.last()).toMatchObject({ error, isLoading: false });
    expect(pages.last()).toMatchObject({ data: undefined, hasNext: false, hasPrevious: false });
    pages.last().next();
    await expect(add.last().run()).rejects.toBe(error);
    await expect.poll(() => add.last()).toMatchObject({ state: 'failed', error });
  });
}
