/** A device that several people use: signing out, unlocking, deleting, and a database for each person. */
import { expect, type Page } from '@playwright/test';
import { test } from './support/app-test.ts';
import { loadApp } from './support/browser-profile.ts';
import { createUsers } from './support/users.ts';
import { addCommit, headIn } from './support/packed-log.ts';

const NAME = 'field-notes';
const PASSWORD = 'correct horse battery';

const open = (page: Page, options: object = {}): Promise<void> =>
  page.evaluate(
    async ([name, options]) => {
      globalThis.db = await burrow.openDatabase(name, {
        log: { enabled: true },
        ...options,
      });
    },
    [NAME, options] as const,
  );

/** Creates Alice, who can log in by her e-mail address, and a note. @returns secrets of all kinds */
async function fillIn(page: Page) {
  await page.evaluate(createUsers, {});
  return page.evaluate(async (password) => {
    const { q } = burrow;
    const admin = db.client();
    await admin.query(q.CreateCollection({ name: 'notes' }));
    const alice = await admin.Create(q.Collection('users'), {
      data: { email: 'alice@example.org' },
      credentials: { password },
    });
    await admin.Create(q.Ref(q.Collection('notes'), '1'), { data: { text: 'a heron' } });
    await admin.query(q.CreateRole({ name: 'guests', privileges: [] }));
    const secretOf = (params: Parameters<typeof q.CreateKey>[0]) =>
      admin.query<string>(q.Select('secret', q.CreateKey(params)));
    return {
      token: (await admin.Login(alice.ref, { password })).secret,
      admin: await secretOf({ role: 'admin' }),
      client: await secretOf({ role: 'client' }),
      guest: await secretOf({ role: q.Role('guests') }),
      root: db.rootSecret,
    };
  }, PASSWORD);
}

/** The outcome of each way to read data by the API: an error code, or `data`. */
const waysIn = (page: Page, secret: string) =>
  page.evaluate(async (secret) => {
    const { q } = burrow;
    const note = q.Get(q.Ref(q.Collection('notes'), '1'));
    const codeOf = async (work: () => Promise<unknown>): Promise<string> => {
      try {
        await work();
        return 'data';
      } catch (error) {
        return String((error as { code?: unknown }).code);
      }
    };
    const http = async (path: string, init: object) => {
      const answer = await db.fetch(path, {
        headers: { authorization: `Bearer ${secret}` },
        ...init,
      });
      const { errors, message } = (await answer.json()) as {
        errors?: { code: string }[];
        message?: string;
      };
      return answer.status === 423
        ? (errors?.[0]?.code ?? (message?.includes('locked') ? 'locked' : message))
        : `status ${answer.status}`;
    };
    const text = JSON.stringify(note);
    return {
      root: await codeOf(() => db.client().query(note)),
      token: await codeOf(() => db.client({ secret }).query(note)),
      write: await codeOf(() => db.client().Create(q.Collection('notes'), { data: {} })),
      pages: await codeOf(() =>
        db
          .client()
          .paginate(q.Documents(q.Collection('notes')))
          .nextPage(),
      ),
      live: await new Promise((resolve) => {
        db.client({ secret }).subscribe(note, {
          next: () => resolve('data'),
          error: ({ code }) => resolve(code),
        });
      }),
      fetch: await http('/', { method: 'POST', body: text }),
      stream: await http('/stream', { method: 'POST', body: text }),
      self: await http('/tokens/self', {}),
      logs: await codeOf(() => db.logs.list()),
      logRoute: await http('/api/v1/logs/_list?type=query', { method: 'POST', body: '{}' }),
      verify: await codeOf(() => db.verify()),
      loss: await codeOf(() => db.acknowledgeLoss()),
      rootSecret: await codeOf(() => Promise.resolve().then(() => db.rootSecret)),
    };
  }, secret);

const everyWay = (answer: string): unknown => ({
  root: answer,
  token: answer,
  write: answer,
  pages: answer,
  live: answer,
  fetch: answer,
  stream: answer,
  self: answer,
  logs: answer,
  logRoute: answer,
  verify: answer,
  loss: answer,
  rootSecret: answer,
});

const readNote = (page: Page, secret?: string) =>
  page.evaluate((secret) => {
    const { q } = burrow;
    return db
      .client(secret ? { secret } : {})
      .query(q.Select(['data', 'text'], q.Get(q.Ref(q.Collection('notes'), '1'))));
  }, secret);

const unlock = (page: Page, secret: string) =>
  page.evaluate(async (secret) => {
    try {
      await db.unlock({ secret });
      return 'unlocked';
    } catch (error) {
      return (error as { code?: string }).code;
    }
  }, secret);

test('signOut() locks all access to the data, in both tabs and after reloads, until somebody logs in', async ({
  profile,
}) => {
  const one = await profile.openTab();
  await open(one);
  const secrets = await fillIn(one);
  const two = await profile.openTab();
  await open(two);
  expect(await readNote(two)).toBe('a heron');
  // Records events and live queries of the other tab when the session ends.
  await two.evaluate(() => {
    const { q } = burrow;
    Object.assign(globalThis, { heard: [] as string[] });
    const { heard } = globalThis as unknown as { heard: string[] };
    db.addEventListener('locked', () => heard.push('event locked'));
    db.addEventListener('unlocked', () => heard.push('event unlocked'));
    db.client().subscribe(q.Count(q.Documents(q.Collection('notes'))), {
      next: (count) => heard.push(`count ${count}`),
      error: ({ code }) => heard.push(`live ${code}`),
    });
    return new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (!heard.includes('count 1')) return;
        clearInterval(timer);
        resolve();
      }, 10);
    });
  });

  await one.evaluate(() => db.signOut());
  expect(await one.evaluate(() => db.isLocked)).toBe(true);
  expect(await waysIn(one, secrets.token)).toEqual(everyWay('locked'));
  expect(await waysIn(two, secrets.token)).toEqual(everyWay('locked'));
  const heard = () => two.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
  await expect.poll(heard).toEqual(['count 1', 'live locked', 'event locked']);

  for (const page of [one, two]) {
    await loadApp(page);
    await open(page);
    expect(await page.evaluate(() => db.isLocked)).toBe(true);
    expect(await waysIn(page, secrets.token)).toEqual(everyWay('locked'));
  }

  // These are not logins: an unknown secret, a client key, a secret with a role, the root secret of the ended session.
  for (const secret of ['nonsense', secrets.client, secrets.guest, secrets.root]) {
    expect(await unlock(one, secret)).toBe('unauthorized');
  }
  expect(await waysIn(one, secrets.token)).toEqual(everyWay('locked'));

  expect(await unlock(one, secrets.token)).toBe('unlocked');
  expect(await readNote(one)).toBe('a heron');
  expect(await readNote(one, secrets.token).catch(String)).toContain('permission denied');
  await expect.poll(() => two.evaluate(() => db.isLocked)).toBe(false);
  expect(await readNote(two)).toBe('a heron');
  expect(await one.evaluate(() => db.rootSecret)).not.toBe(secrets.root);
  expect(await readNote(one, secrets.root).catch(String)).toContain('unauthorized');
});

test('unlock() with a password returns a token; with a wrong password everything stays locked', async ({
  profile,
}) => {
  const page = await profile.openTab();
  await open(page);
  await fillIn(page);
  await page.evaluate(() => db.signOut());
  const logIn = (user: 'email' | 'ref' | 'computed', password: string) =>
    page.evaluate(
      async ({ user, password }) => {
        const { q } = burrow;
        const byEmail = q.Match(q.Index('users_by_email'), 'alice@example.org');
        const users = {
          email: byEmail,
          ref: q.Ref(q.Collection('users'), '404'),
          computed: q.If(q.Exists(q.Ref(q.Collection('notes'), '1')), byEmail, q.Abort('none')),
        };
        try {
          const { secret } = await db.unlock({ user: users[user], password });
          return (
            secret !== undefined &&
            (await db.client({ secret }).query(q.Exists(q.CurrentIdentity())))
          );
        } catch (error) {
          return (error as { code?: string }).code;
        }
      },
      { user, password },
    );
  expect(await logIn('email', 'wrong')).toBe('authentication failed');
  expect(await logIn('ref', PASSWORD)).toBe('authentication failed');
  expect(await logIn('computed', PASSWORD)).toBe('bad request');
  await expect(readNote(page)).rejects.toThrow('locked');
  await loadApp(page);
  await open(page);
  await expect(readNote(page)).rejects.toThrow('locked');
  // A token may read its user's own document without a role.
  expect(await logIn('email', PASSWORD)).toBe(true);
  expect(await readNote(page)).toBe('a heron');

  await page.evaluate(() => db.signOut());
  await page.evaluate(() => db.close());
  const refused = page.evaluate(
    ([name]) => burrow.openDatabase(name, { unlock: { secret: 'nonsense' } }),
    [NAME] as const,
  );
  await expect(refused).rejects.toThrow('unauthorized');
});

/** All storage of this origin. */
const scan = (page: Page) =>
  page.evaluate(async () => {
    const files: string[] = [];
    const walk = async (folder: FileSystemDirectoryHandle, path: string): Promise<void> => {
      for await (const [name, handle] of folder as unknown as AsyncIterable<
        [string, FileSystemHandle]
      >) {
        if (handle.kind === 'file') files.push(`${path}/${name}`);
        else await walk(handle as FileSystemDirectoryHandle, `${path}/${name}`);
      }
    };
    await walk(await navigator.storage.getDirectory(), '');
    const cached: string[] = [];
    for (const name of await caches.keys()) {
      for (const request of await (await caches.open(name)).keys()) cached.push(request.url);
    }
    return {
      databases: (await indexedDB.databases()).map(({ name = '' }) => name).sort(),
      files: files.sort(),
      cached,
      localStorage: Object.keys(localStorage),
      sessionStorage: Object.keys(sessionStorage),
    };
  });

const NOTHING = { databases: [], files: [], cached: [], localStorage: [], sessionStorage: [] };

/** Exports the log. @returns the blob URL of the file */
const exportLog = (page: Page) =>
  page.evaluate(async () => {
    const time_start = new Date(Date.now() - 60_000);
    const time_end = new Date(Date.now() + 60_000);
    const { request_id } = await db.logs.request({ time_start, time_end });
    for (;;) {
      const { state, presigned_url: url } = await db.logs.status(request_id);
      if (state === 'Complete' && url !== undefined) return url;
      if (state !== 'Pending' && state !== 'Requested') throw new Error(state);
    }
  });

const isReadable = (page: Page, url: string) =>
  page.evaluate(
    (url) =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    url,
  );

test('signOut({ forget }) leaves nothing on the device, and the database is empty when it is opened again (P4)', async ({
  profile,
}) => {
  const one = await profile.openTab();
  await open(one);
  await fillIn(one);
  const two = await profile.openTab();
  await open(two);
  const urls = [await exportLog(one), await exportLog(two)] as const;
  expect([await isReadable(one, urls[0]), await isReadable(two, urls[1])]).toEqual([true, true]);
  expect((await scan(one)).databases).toEqual([NAME]);
  expect((await scan(one)).files).toContain(`/burrow/${NAME}.birth`);

  await one.evaluate(() => db.signOut({ forget: true }));
  expect(await scan(one)).toEqual(NOTHING);
  expect([await isReadable(one, urls[0]), await isReadable(two, urls[1])]).toEqual([false, false]);
  await expect(readNote(one)).rejects.toThrow('closed');
  await expect(readNote(two)).rejects.toThrow('deleted in another tab');

  await loadApp(two);
  await open(two);
  expect(await two.evaluate(() => [db.isLocked, db.loss])).toEqual([false, undefined]);
  await expect(readNote(two)).rejects.toThrow('invalid ref');
  await two.evaluate(() => db.signOut());
  // A user who cannot unlock the database can still delete it.
  await two.evaluate(() => db.signOut({ forget: true }));
  expect(await scan(two)).toEqual(NOTHING);
});

test('signOut() revokes the URLs of exported logs', async ({ profile }) => {
  const page = await profile.openTab();
  await open(page);
  await fillIn(page);
  const url = await exportLog(page);
  await page.evaluate(() => db.signOut());
  expect(await isReadable(page, url)).toBe(false);
});

test('the next open finishes a deletion that was interrupted', async ({ profile }) => {
  const one = await profile.openTab();
  await open(one);
  await fillIn(one);
  // Simulates an interrupted deletion: the mark is set, but neither the database nor the token vault of sync has been deleted.
  await one.evaluate(async (name) => {
    await db.close();
    await new Promise<void>((resolve) => {
      const vault = indexedDB.open(`${name}:token`);
      vault.addEventListener('success', () => {
        vault.result.close();
        resolve();
      });
    });
  }, NAME);
  const head = await headIn(one, NAME);
  const value = String(head.row.value).replace('{', '{"lock":"forgotten",');
  await addCommit(one, NAME, { ...head, row: { ...head.row, value } });
  await open(one);
  expect(await one.evaluate(() => [db.isLocked, db.loss])).toEqual([false, undefined]);
  await expect(readNote(one)).rejects.toThrow('invalid ref');
  expect((await scan(one)).databases).toEqual([NAME]);
});

test('a tab without messages from other tabs sees the lock in the store', async ({ profile }) => {
  const deaf = await profile.openTab();
  await deaf.addInitScript(() => {
    // The worker of this tab receives no messages from other tabs.
    const { Worker } = globalThis;
    globalThis.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        const deafen = 'data:text/javascript,self.BroadcastChannel = undefined;';
        const source = `import ${JSON.stringify(deafen)}; import ${JSON.stringify(String(url))};`;
        super(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), options);
      }
    };
  });
  await loadApp(deaf);
  await open(deaf);
  const secrets = await fillIn(deaf);
  const other = await profile.openTab();
  await open(other);
  expect(await readNote(deaf)).toBe('a heron');
  await other.evaluate(() => db.signOut());
  await expect(readNote(deaf)).rejects.toThrow('locked');
  expect(await waysIn(deaf, secrets.token)).toEqual(everyWay('locked'));
});

test('each identity has its own database, whose name does not reveal the identity', async ({
  profile,
}) => {
  const page = await profile.openTab();
  await open(page);
  await page.evaluate(() => db.close());
  for (const identity of ['alice@example.org', 'bob@example.org']) {
    await open(page, { identity });
    expect(await page.evaluate(() => db.name)).toBe(NAME);
    await page.evaluate(async (identity) => {
      await db.client().query(burrow.q.CreateCollection({ name: 'notes' }));
      await db
        .client()
        .Create(burrow.q.Ref(burrow.q.Collection('notes'), '1'), { data: { text: identity } });
      await db.close();
    }, identity);
  }
  await open(page, { identity: 'alice@example.org' });
  expect(await readNote(page)).toBe('alice@example.org');
  await page.evaluate(() => db.signOut());
  const names = JSON.stringify(await scan(page));
  expect(names).not.toMatch(/alice|bob|example/);

  // Only Alice can unlock her database, but other users can delete it.
  await open(page, { identity: 'bob@example.org' });
  expect(await readNote(page)).toBe('bob@example.org');
  const list = () => page.evaluate((name) => burrow.listDatabases(name), NAME);
  const listed = await list();
  expect(listed).toHaveLength(3);
  expect(listed.map(({ name }) => name)).toEqual([NAME, NAME, NAME]);
  await page.evaluate(
    (name) => burrow.forgetDatabase(name, { identity: 'alice@example.org' }),
    NAME,
  );
  expect(await list()).toHaveLength(2);
  expect(await readNote(page)).toBe('bob@example.org');
  for (const { identityHash } of await list()) {
    await page.evaluate(([name, identityHash]) => burrow.forgetDatabase(name, { identityHash }), [
      NAME,
      identityHash,
    ] as const);
  }
  await expect(readNote(page)).rejects.toThrow('deleted in another tab');
  expect(await scan(page)).toEqual(NOTHING);
});
