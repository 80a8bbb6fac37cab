/** A copy whose user loses access, gets it back, or is replaced by another user. */
import { expect, type Page } from '@playwright/test';
import { loadApp } from './support/browser-profile.ts';
import { call, notes, PASSWORD, type SyncHub } from './support/sync-hub.ts';
import {
  failureToSubmit,
  failureToSync,
  openSynced,
  shownIn,
  stateOf,
  submitNote,
  writesIn,
} from './support/sync-page.ts';
import { ALICE, BOB, loginOf, test } from './support/sync-test.ts';

const user = (email: string): unknown =>
  call('Select', 'ref', call('Get', call('Match', call('Index', 'users_by_email'), email)));

const forEachToken = (hub: SyncHub, act: (token: unknown) => unknown): Promise<unknown> =>
  hub.admin.query(
    call(
      'Foreach',
      call('Paginate', call('Documents', call('Tokens'))),
      call('Lambda', 't', act(call('Var', 't'))),
    ),
  );
const endTokens = (hub: SyncHub) => forEachToken(hub, (token) => call('Delete', token));
/** Makes all tokens expire now. */
const expireTokens = (hub: SyncHub) =>
  forEachToken(hub, (token) => call('Update', token, { ttl: call('Now') }));

/** Result or error code of a query of all notes, for the synced identity and for the local root. */
const codesIn = (page: Page): Promise<unknown[]> =>
  page.evaluate(async () => {
    const { q } = burrow;
    const all = q.Count(q.Documents(q.Collection('notes')));
    const codeOf = (work: Promise<unknown>): Promise<unknown> =>
      work.catch((error: { code?: string }) => error.code);
    return Promise.all([codeOf(sync.client.query(all)), codeOf(db.client().query(all))]);
  });

const loginAgain = (page: Page, hub: SyncHub, more: object = {}): Promise<string | undefined> =>
  page.evaluate(
    async ({ url, email, password, key }) => {
      const { q } = burrow;
      const user = q.Match(q.Index('users_by_email'), email);
      const sets = [q.Documents(q.Collection('notes'))];
      return db.sync({ url, login: { user, password, key }, sets }).then(
        () => undefined,
        (error: { code?: string }) => error.code,
      );
    },
    { url: hub.url, ...loginOf(hub, ALICE), ...more },
  );

/** Creates Alice's copy, with one write at the hub, and one that is not sent because the hub cannot be reached. */
async function leaveUnsent(page: Page, hub: SyncHub): Promise<void> {
  await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) });
  await submitNote(page, 'a heron');
  await page.evaluate(() => sync.whenSettled());
  hub.proxy.set('down');
  await submitNote(page, 'unsent');
}

test('a revoked token locks the copy at the next contact; a login unlocks it, and waiting writes are sent', async ({
  page,
  hub,
}) => {
  await leaveUnsent(page, hub);
  await endTokens(hub);
  expect(await codesIn(page)).toEqual([2, 2]);
  hub.proxy.set('up');
  await expect.poll(() => stateOf(page)).toBe('locked');
  expect(await codesIn(page)).toEqual(['locked', 'locked']);
  expect(await failureToSubmit(page, 'more')).toBe('locked');
  await loadApp(page);
  // Without the hub, neither the stored token nor the password unlocks the copy.
  hub.proxy.set('down');
  expect(await failureToSync(page, { url: hub.url, login: loginOf(hub, ALICE) })).toBe(
    'connection_needed',
  );
  await openSynced(page, { url: hub.url });
  expect(await codesIn(page)).toEqual(['locked', 'locked']);
  hub.proxy.set('up');
  expect(await loginAgain(page, hub)).toBeUndefined();
  expect(await stateOf(page)).not.toBe('locked');
  await page.evaluate(() => sync.whenSettled());
  expect((await writesIn(page)).map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
  expect(await codesIn(page)).toEqual([2, 2]);
});

test('if rights are revoked while 100 writes wait, each write gets a verdict, and refused writes are kept', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) });
  await page.evaluate(() => sync.whenSynced());
  hub.proxy.set('down');
  for (let n = 0; n < 100; n++) await submitNote(page, `note ${n}`, { topic: n % 2 ? 'b' : 'a' });
  await endTokens(hub);
  // From now on, only notes with one topic may be created.
  const isAllowed = call('Equals', call('Select', ['data', 'topic'], call('Var', 'note')), 'a');
  const resource = notes();
  const create = call('Query', call('Lambda', 'note', isAllowed));
  const actions = { read: true, write: true, delete: true, create };
  await hub.admin.query(
    call('Update', call('Role', 'people'), { privileges: [{ resource, actions }] }),
  );
  hub.proxy.set('up');
  await expect.poll(() => stateOf(page)).toBe('locked');
  expect(await loginAgain(page, hub)).toBeUndefined();
  await page.evaluate(() => sync.whenSettled());
  const states = (await writesIn(page)).map(({ state, code }) => `${state} ${code}`);
  expect(states).toEqual(
    Array.from({ length: 100 }, (_, n) =>
      n % 2 ? 'refused permission denied' : 'confirmed undefined',
    ),
  );
  expect(await hub.admin.query(call('Count', call('Documents', notes())))).toBe(50);
  await expect.poll(async () => (await shownIn(page)).length).toBe(50);
});

test('an expired token asks for a login; reads and writes continue, and the writes are sent after the login', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await submitNote(page, 'in time');
  await page.evaluate(() => sync.whenSettled());
  hub.proxy.set('down');
  await submitNote(page, 'parked');
  await expireTokens(hub);
  hub.proxy.set('up');
  await expect.poll(() => stateOf(page)).toBe('needs-login');
  expect((await writesIn(page)).map(({ state }) => state)).toEqual(['confirmed', 'parked']);
  await submitNote(page, 'written on');
  await expect.poll(() => shownIn(page)).toEqual(['in time', 'parked', 'written on']);
  const state = await page.evaluate(
    async ({ url, secret }) => {
      const sets = [burrow.q.Documents(burrow.q.Collection('notes'))];
      return (await db.sync({ url, secret, sets })).state;
    },
    { url: hub.url, secret: await hub.token(ALICE) },
  );
  expect(state).not.toBe('needs-login');
  await page.evaluate(() => sync.whenSettled());
  expect((await writesIn(page)).map(({ state }) => state)).toEqual(Array(3).fill('confirmed'));
  expect(await hub.admin.query(call('Count', call('Documents', notes())))).toBe(3);
});

test('after the next contact, a password that was changed at the hub no longer works offline (A6)', async ({
  page,
  hub,
}) => {
  // The copy uses a token, which outlives the password. The device knows the password from an earlier login.
  await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) });
  await page.evaluate(() => sync.whenSynced());
  hub.proxy.set('down');
  await expect.poll(() => stateOf(page)).toBe('offline');
  await hub.admin.query(
    call('Update', user(ALICE), { credentials: { password: 'another password' } }),
  );
  // Without contact to the hub, the old password is still accepted.
  expect(await loginAgain(page, hub)).toBeUndefined();
  hub.proxy.set('up');
  await expect.poll(() => stateOf(page)).not.toBe('offline');
  await expect.poll(() => stateOf(page)).not.toBe('connecting');
  hub.proxy.set('down');
  await expect.poll(() => loginAgain(page, hub)).toBe('connection_needed');
});

test('a copy belongs to one person: a login of another person is refused and changes nothing', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) });
  hub.proxy.set('down');
  await submitNote(page, 'of Alice');
  hub.proxy.set('up');
  const bob = await loginAgain(page, hub, { email: BOB });
  expect(bob).toBe('forbidden');
  const token = await hub.token(BOB);
  const byToken = (secret: string) =>
    page.evaluate(
      ([url, secret]) => {
        const { q } = burrow;
        const sets = [q.Documents(q.Collection('notes'))];
        return db.sync({ url, secret, sets }).then(
          () => undefined,
          (error: { code?: string }) => error.code,
        );
      },
      [hub.url, secret] as const,
    );
  expect(await byToken(token)).toBe('forbidden');
  expect(await byToken('fnnonsense')).toBe('unauthorized');
  hub.proxy.set('down');
  expect(await byToken(token)).toBe('connection_needed');
  hub.proxy.set('up');
  await page.evaluate(() => sync.whenSettled());
  expect(await writesIn(page)).toMatchObject([{ state: 'confirmed' }]);
  // No request was sent with another identity.
  const senders = new Set(hub.proxy.of('/sync/push').map(({ headers }) => headers.authorization));
  expect(senders.size).toBe(1);
});

test('documents that a person may no longer read leave the copy', async ({ page, hub }) => {
  await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) });
  await submitNote(page, 'for now');
  await page.evaluate(() => sync.whenSettled());
  const people = call('Role', 'people');
  await hub.admin.query(
    call('Update', people, { privileges: [{ resource: notes(), actions: { create: true } }] }),
  );
  await expect.poll(() => shownIn(page)).toEqual([]);
  await page.evaluate(() => sync.whenSynced());
  const rows = await page.evaluate(async () => {
    const { q } = burrow;
    return db.client().query(q.Count(q.Documents(q.Collection('notes'))));
  });
  expect(rows).toBe(0);
});

/** @returns the code of what went wrong */
const unlock = (page: Page, login: { password: string; key?: string }) =>
  page.evaluate(
    ([email, login]) =>
      db.unlock({ user: burrow.q.Match(burrow.q.Index('users_by_email'), email), ...login }).then(
        () => undefined,
        (error: { code?: string }) => error.code,
      ),
    [ALICE, login] as const,
  );

test('a copy whose person signed out is unlocked by their login, here or at the hub, and syncs again', async ({
  page,
  hub,
}) => {
  await leaveUnsent(page, hub);
  await page.evaluate(() => db.signOut());
  expect(await codesIn(page)).toEqual(['locked', 'locked']);
  expect(await stateOf(page)).toBe('locked');
  expect(await unlock(page, { password: 'wrong horse' })).toBe('authentication failed');
  expect(await unlock(page, { password: PASSWORD })).toBeUndefined();
  await expect.poll(() => codesIn(page)).toEqual([2, 2]);
  hub.proxy.set('up');
  await page.evaluate(() => sync.whenSettled());
  expect((await writesIn(page)).map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
  // The password was changed at the hub, and this device does not know that.
  await page.evaluate(() => db.signOut());
  await hub.admin.query(call('Update', user(ALICE), { credentials: { password: 'a new one' } }));
  expect(await unlock(page, { password: PASSWORD, key: hub.key })).toBe('authentication failed');
  expect(await unlock(page, { password: 'a new one' })).toBe('authentication failed');
  expect(await unlock(page, { password: 'a new one', key: hub.key })).toBeUndefined();
  await expect.poll(() => codesIn(page)).toEqual([2, 2]);
  await page.evaluate(() => sync.whenSynced());
});
