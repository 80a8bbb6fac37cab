import { describe, expect } from 'vitest';
import { createUsers } from '../support/users.ts';
import { engines } from './support/browser-test.ts';
import type { Tab } from './support/tab.ts';

const PASSWORD = 'correct horse battery';

const open = (tab: Tab): Promise<void> =>
  tab.run(async () => {
    globalThis.db = await burrow.openDatabase('people');
  });

/** Creates the user Wren, who can log in with a password. @returns the secret of a client key */
async function fillIn(tab: Tab): Promise<string> {
  await tab.run(createUsers, { permissions: { read: 'public' } as const });
  return tab.run(async (password) => {
    const { q } = burrow;
    const admin = db.client();
    await admin.query(
      q.Create(q.Ref(q.Collection('users'), '7'), {
        data: { email: 'wren@example.org' },
        credentials: { password },
      }),
    );
    return admin.query<string>(q.Select('secret', q.CreateKey({ role: 'client' })));
  }, PASSWORD);
}

/** @returns the secret of the token, or the code of the error */
const logIn = (tab: Tab, secret: string, password: string): Promise<string> =>
  tab.run(
    ({ secret, password }) => {
      const { q } = burrow;
      const wren = q.Match(q.Index('users_by_email'), 'wren@example.org');
      return db
        .client({ secret })
        .Login(wren, { password })
        .then(
          (token) => token.secret,
          (error: unknown) => (error instanceof burrow.QueryError ? error.code : String(error)),
        );
    },
    { secret, password },
  );

/** Id of the user to whom the token belongs, or the code of the error. */
const identityOf = (tab: Tab, secret: string): Promise<string> =>
  tab.run(
    (secret) =>
      db
        .client({ secret })
        .query(burrow.q.Select('id', burrow.q.CurrentIdentity()))
        .then(String, (error: unknown) =>
          error instanceof burrow.QueryError ? error.code : String(error),
        ),
    secret,
  );

describe.for(engines)('%s', ([, test]) => {
  test('a user logs in by password, and the token works after a reload, until the user logs out', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await open(tab);
    const key = await fillIn(tab);
    expect(await logIn(tab, key, 'a wrong one')).toBe('authentication failed');
    const token = await logIn(tab, key, PASSWORD);
    expect(await identityOf(tab, token)).toBe('7');
    await tab.reload();
    await open(tab);
    expect(await identityOf(tab, token)).toBe('7');
    await tab.run((secret) => db.client({ secret }).Logout(true), token);
    expect(await identityOf(tab, token)).toBe('unauthorized');
  });

  test('a database whose user has signed out stays locked after a restart, and the password unlocks it', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await open(tab);
    await fillIn(tab);
    await tab.run(() => db.signOut());
    await browser.close();
    const after = await browser.start();
    await open(after);
    expect(await after.run(() => db.isLocked)).toBe(true);
    const unlock = (password: string) =>
      after.run((password) => {
        const user = burrow.q.Match(burrow.q.Index('users_by_email'), 'wren@example.org');
        return db.unlock({ user, password }).then(({ secret }) => secret ?? '');
      }, password);
    await expect(unlock('a wrong one')).rejects.toThrow(/authentication failed/);
    const secret = await unlock(PASSWORD);
    expect(await after.run(() => db.isLocked)).toBe(false);
    expect(await identityOf(after, secret)).toBe('7');
  });
});
