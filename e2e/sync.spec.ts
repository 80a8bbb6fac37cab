/** Two browsers and a hub: what one browser writes, with or without network, appears in the other one. */
import { expect, type Page } from '@playwright/test';
import { loadApp } from './support/browser-profile.ts';
import { call, notes } from './support/sync-hub.ts';
import {
  failureToSync,
  openSynced,
  shownIn,
  stateOf,
  submitNote,
  writesIn,
} from './support/sync-page.ts';
import { ALICE, BOB, loginOf, test } from './support/sync-test.ts';

test.use({ hasLines: true });

test('a write in one browser appears in the other, and the writer gets the verdict', async ({
  page,
  hub,
  other,
}) => {
  await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) });
  await openSynced(other, { url: hub.url, secret: await hub.token(BOB) });
  const done = await page.evaluate(async () => {
    const { q } = burrow;
    const written = await sync.client.submit(
      q.Create(q.Collection('notes'), { data: { text: 'a heron' } }),
    );
    const verdict = await written.settled;
    if (verdict.state === 'refused') throw verdict.error;
    const { state, id, value } = verdict;
    return { state, isSame: id === written.id, here: written.value?.data, there: value?.data };
  });
  expect(done).toEqual({
    state: 'confirmed',
    isSame: true,
    here: { text: 'a heron' },
    there: { text: 'a heron' },
  });
  await expect.poll(() => shownIn(other)).toEqual(['a heron']);
  for (const each of [page, other]) {
    await each.evaluate(() => Promise.all([sync.whenSettled(), sync.whenSynced()]));
    await expect.poll(() => stateOf(each)).toBe('live');
  }
  // Until the WebSocket is open, hints and verdicts arrive as responses to requests.
  await expect.poll(() => hub.proxy.lines).toBe(2);
  // When nothing changes, no requests are made.
  const asked = hub.proxy.passed.length;
  await page.waitForTimeout(500);
  expect(hub.proxy.passed.length).toBe(asked);
  // Everything goes over the two WebSockets, without requests.
  expect(hub.proxy.lines).toBe(2);
  await submitNote(page, 'an egret');
  await expect.poll(() => shownIn(other)).toEqual(['a heron', 'an egret']);
  await page.evaluate(() => sync.whenSettled());
  expect(hub.proxy.passed.length).toBe(asked);
});

test('two browsers work without a network, also after a reload; with a network both agree, without duplicates', async ({
  page,
  hub,
  other,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await openSynced(other, { url: hub.url, secret: await hub.token(BOB) });
  await submitNote(page, 'before');
  await expect.poll(() => shownIn(other)).toEqual(['before']);
  hub.proxy.set('down');
  await expect.poll(() => stateOf(page)).toBe('offline');
  for (const text of ['a1', 'a2']) await submitNote(page, text);
  await submitNote(other, 'b1');
  await expect.poll(() => shownIn(page)).toEqual(['a1', 'a2', 'before']);
  await expect.poll(() => shownIn(other)).toEqual(['b1', 'before']);
  await loadApp(page);
  await openSynced(page, { url: hub.url });
  await expect.poll(() => shownIn(page)).toEqual(['a1', 'a2', 'before']);
  expect(await writesIn(page, ['local'])).toMatchObject([{ state: 'local' }, { state: 'local' }]);
  await submitNote(page, 'a3');
  hub.proxy.set('up');
  const all = ['a1', 'a2', 'a3', 'b1', 'before'];
  for (const each of [page, other]) await expect.poll(() => shownIn(each)).toEqual(all);
  await page.evaluate(() => sync.whenSettled());
  expect((await writesIn(page)).map(({ state }) => state)).toEqual(Array(4).fill('confirmed'));
  // The writes were confirmed one by one, and no result of the live query lacked one of them.
  const seen = await page.evaluate(() => answers);
  for (const answer of seen) for (const text of ['a1', 'a2']) expect(answer).toContain(text);
  expect(await hub.admin.query(call('Count', call('Documents', notes())))).toBe(5);
});

test('an offline browser reports `offline`, keeps writes, and sends them when it is online again', async ({
  page,
  context,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await expect.poll(() => stateOf(page)).toBe('live');
  await context.setOffline(true);
  await submitNote(page, 'afloat');
  await expect.poll(() => stateOf(page)).toBe('offline');
  await expect.poll(() => shownIn(page)).toEqual(['afloat']);
  expect(hub.proxy.of('/sync/push')).toEqual([]);
  await context.setOffline(false);
  await page.evaluate(() => sync.whenSettled());
  expect(await writesIn(page)).toMatchObject([{ state: 'confirmed' }]);
  await expect.poll(() => stateOf(page)).toBe('live');
});

const slugWrite = (page: Page, text: string, slug: string): Promise<string> =>
  submitNote(page, text, { slug });

test('a refused write is listed with its error, also after a reload, and can be edited, retried or discarded', async ({
  page,
  hub,
  other,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await openSynced(other, { url: hub.url, secret: await hub.token(BOB) });
  await page.evaluate(() => sync.whenSynced());
  hub.proxy.set('down');
  const ids = [];
  for (const slug of ['one', 'two', 'three']) ids.push(await slugWrite(page, `mine ${slug}`, slug));
  await submitNote(page, 'independent');
  for (const slug of ['one', 'two', 'three'])
    await hub.admin.query(call('Create', notes(), { data: { slug, text: `theirs ${slug}` } }));
  hub.proxy.set('up');
  await page.evaluate(() => sync.whenSettled());
  const refused = await writesIn(page, ['refused']);
  expect(refused.map(({ id, code }) => [id, code])).toEqual(
    ids.map((id) => [id, 'instance not unique']),
  );
  const theirs = ['theirs one', 'theirs three', 'theirs two'];
  await expect.poll(() => shownIn(page)).toEqual(['independent', ...theirs]);
  await loadApp(page);
  await openSynced(page, { url: hub.url });
  expect(await writesIn(page, ['refused'])).toEqual(refused);
  const [first = '', second = '', third = ''] = ids;
  const outcomes = await page.evaluate(
    async ([first, second, third]) => {
      const { q } = burrow;
      await sync.writes.resolve(first, { discard: true });
      const edited = await sync.writes.resolve(second, {
        edit: q.Create(q.Collection('notes'), { data: { text: 'mine two', slug: 'zwei' } }),
      });
      const again = await sync.writes
        .resolve(third, { retry: true })
        .catch((error: Error & { code?: string }) => error.code);
      return [(await edited?.settled)?.state, again];
    },
    [first, second, third] as const,
  );
  // A retry that would be refused again is rejected at once, based on the local copy.
  expect(outcomes).toEqual(['confirmed', 'instance not unique']);
  expect(await writesIn(page, ['refused'])).toMatchObject([{ id: third }]);
  await hub.admin.query(
    call(
      'Delete',
      call('Select', 'ref', call('Get', call('Match', call('Index', 'notes_by_slug'), 'three'))),
    ),
  );
  await expect.poll(() => shownIn(page)).not.toContain('theirs three');
  const late = await page.evaluate(async (third) => {
    const again = await sync.writes.resolve(third, { retry: true });
    return (await again?.settled)?.state;
  }, third);
  expect(late).toBe('confirmed');
  expect(await writesIn(page, ['refused'])).toEqual([]);
  const end = ['independent', 'mine three', 'mine two', 'theirs one', 'theirs two'];
  await expect.poll(() => shownIn(page)).toEqual(end);
  await expect.poll(() => shownIn(other)).toEqual(end);
});

test('a user who logged in with a network can log in without one, only with the right password', async ({
  page,
  hub,
}) => {
  const login = loginOf(hub, ALICE);
  await openSynced(page, { url: hub.url, login });
  await submitNote(page, 'a heron');
  await page.evaluate(() => sync.whenSettled());
  hub.proxy.set('down');
  await loadApp(page);
  const wrong = { ...login, password: 'wrong horse' };
  expect(await failureToSync(page, { url: hub.url, login: wrong })).toBe('authentication failed');
  const bob = loginOf(hub, BOB);
  expect(await failureToSync(page, { url: hub.url, login: bob })).toBe('connection_needed');
  await openSynced(page, { url: hub.url, login });
  await expect.poll(() => shownIn(page)).toEqual(['a heron']);
  await submitNote(page, 'an egret');
  hub.proxy.set('up');
  await page.evaluate(() => sync.whenSettled());
  expect(await writesIn(page)).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }]);
});

/** Searches all that a script of the page can access: storage, and the properties of the objects that it gets. */
const findInPage = (page: Page, text: string): Promise<string[]> =>
  page.evaluate(async (text) => {
    const found: string[] = [];
    const holds = (value: unknown): boolean => {
      if (value instanceof ArrayBuffer) return holds(new TextDecoder().decode(value));
      if (ArrayBuffer.isView(value)) return holds(new TextDecoder().decode(value.buffer));
      if (typeof value === 'string') return value.includes(text);
      if (typeof value !== 'object' || value === null) return false;
      return Object.values(value).some(holds);
    };
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open(name);
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(new Error(`${name} cannot be opened.`)));
      });
      for (const store of database.objectStoreNames) {
        const rows = await new Promise<unknown>((resolve) => {
          const request = database.transaction(store).objectStore(store).getAll();
          request.addEventListener('success', () => resolve(request.result));
        });
        if (holds(rows)) found.push(`${name} ${store}`);
      }
      database.close();
    }
    for (const storage of [localStorage, sessionStorage])
      if (Object.values(storage).some(holds)) found.push('web storage');
    const walk = async (folder: FileSystemDirectoryHandle): Promise<void> => {
      const entries = folder as unknown as AsyncIterable<[string, FileSystemHandle]>;
      for await (const [name, handle] of entries) {
        if (handle.kind === 'directory') await walk(handle as FileSystemDirectoryHandle);
        else if ((await (await (handle as FileSystemFileHandle).getFile()).text()).includes(text))
          found.push(`file ${name}`);
      }
    };
    await walk(await navigator.storage.getDirectory());
    const seen = new Set<unknown>();
    const look = (value: unknown, path: string): void => {
      if (typeof value === 'string' && value.includes(text)) found.push(path);
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
      if (seen.has(value) || seen.size > 20_000) return;
      seen.add(value);
      for (const key of Reflect.ownKeys(value)) {
        const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
        if (descriptor && 'value' in descriptor) look(descriptor.value, `${path}.${String(key)}`);
      }
      look(Reflect.getPrototypeOf(value), `${path}.prototype`);
    };
    look(db, 'db');
    look(sync, 'sync');
    return found;
  }, text);

test('scripts of the page find neither the token of a login nor the password', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) });
  await submitNote(page, 'a canary');
  await page.evaluate(() => sync.whenSettled());
  const token = hub.proxy.of('/sync/hello')[0]?.headers.authorization?.replace('Bearer ', '') ?? '';
  expect(token).toMatch(/^fn/);
  // The search finds a text that must be found.
  expect(await findInPage(page, 'a canary')).not.toEqual([]);
  expect(await findInPage(page, token)).toEqual([]);
  expect(await findInPage(page, loginOf(hub, ALICE).password)).toEqual([]);
});

test('a copy with unsent writes is only deleted if `discardUnsent` is given', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  hub.proxy.set('down');
  await submitNote(page, 'unsent');
  const signOut = (options: object): Promise<string | undefined> =>
    page.evaluate(
      (options) =>
        db.signOut(options).then(
          () => undefined,
          (error: { code?: string }) => error.code,
        ),
      options,
    );
  expect(await signOut({ forget: true })).toBe('unsent_writes');
  const forgetting = page.evaluate(() => burrow.forgetDatabase('field-notes'));
  await expect(forgetting).rejects.toThrow('1 write(s) or file(s) have not reached the hub.');
  await expect.poll(() => shownIn(page)).toEqual(['unsent']);
  expect(await signOut({ forget: true, discardUnsent: true })).toBeUndefined();
  expect(
    await page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name)),
  ).toEqual([]);
  await loadApp(page);
  expect(await failureToSync(page, { url: hub.url })).toBe('login_needed');
});

test('a lost worker is replaced: clients, live queries and sync continue', async ({
  page,
  hub,
  other,
}) => {
  await page.addInitScript(() => {
    const Native = globalThis.Worker;
    globalThis.Worker = class extends Native {
      constructor(...args: ConstructorParameters<typeof globalThis.Worker>) {
        super(...args);
        Object.assign(globalThis, { lastWorker: this });
      }
    };
  });
  await loadApp(page);
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await openSynced(other, { url: hub.url, secret: await hub.token(BOB) });
  await submitNote(page, 'first');
  await page.evaluate(() => {
    (globalThis as unknown as { lastWorker: Worker }).lastWorker.terminate();
  });
  await submitNote(other, 'from afar');
  await expect.poll(() => shownIn(page)).toEqual(['first', 'from afar']);
  const verdict = await page.evaluate(async () => {
    const { q } = burrow;
    const { settled } = await sync.client.submit(
      q.Create(q.Collection('notes'), { data: { text: 'second' } }),
    );
    return (await settled).state;
  });
  expect(verdict).toBe('confirmed');
});
