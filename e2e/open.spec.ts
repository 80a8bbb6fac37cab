import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, type Page } from '@playwright/test';
import { print, test } from './support/app-test.ts';
import { appUrl, loadApp, type BrowserProfile } from './support/browser-profile.ts';
import { openNotes } from './support/notes.ts';

interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
}

/** The error with which opening fails, or undefined if it succeeds. */
const openingFailure = (page: Page, name: string): Promise<Failure | undefined> =>
  page.evaluate(async (name) => {
    try {
      globalThis.db = await burrow.openDatabase(name);
      return undefined;
    } catch (error) {
      const { name, message, code } = error as Error & { code?: string };
      return { name, message, code };
    }
  }, name);

/** The error of a query on the database that is open in the page. */
const queryFailure = (page: Page): Promise<string> =>
  page.evaluate(() =>
    db
      .client()
      .query(burrow.q.Create(burrow.q.Collection('notes'), { data: {} }))
      .then(
        () => 'answered',
        (error: unknown) => String(error),
      ),
  );

/** Records the `closed` events of the database. */
const rememberClosed = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const closed: string[] = [];
    Object.assign(globalThis, { closedEvents: closed });
    db.addEventListener('closed', ({ detail }) => closed.push(detail));
  });

const closedEvents = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => (globalThis as unknown as { closedEvents: string[] }).closedEvents);

test.describe('openDatabase() rejects', () => {
  const answers = {
    'is not there': { status: 404, body: 'Not found' },
    'is a page': { status: 200, contentType: 'text/html', body: '<!doctype html>' },
    'throws at once': {
      status: 200,
      contentType: 'text/javascript',
      body: 'throw new Error("broken build")',
    },
  } as const;
  for (const [what, answer] of Object.entries(answers)) {
    test(`with an explanation at once if the worker ${what}`, async ({ profile }) => {
      const page = await profile.openTab();
      await page.route(/worker/, (route) => route.fulfill(answer));
      const started = performance.now();
      const failure = await openingFailure(page, 'unloaded');
      print(`worker ${what}`, { ms: Math.round(performance.now() - started) });
      expect(failure).toMatchObject({
        name: 'UnavailableError',
        message: expect.stringMatching(
          /^worker_not_started: The database worker failed to load.*worker-src/s,
        ),
      });
      // The same page can open the database when the worker's file is available.
      await page.unroute(/worker/);
      await loadApp(page);
      expect(await openingFailure(page, 'unloaded')).toBeUndefined();
    });
  }

  test("with an explanation at its deadline if the worker's file never arrives", async ({
    profile,
  }) => {
    const page = await profile.openTab();
    await page.clock.install();
    await loadApp(page);
    const asked = page.waitForRequest(/worker/);
    await page.route(/worker/, () => undefined);
    const failure = openingFailure(page, 'unloaded');
    await asked;
    await page.clock.runFor('00:20');
    expect(await failure).toMatchObject({
      name: 'UnavailableError',
      message: expect.stringMatching(
        /^worker_not_started: The database worker did not respond within 20 s\. Check the network, file, type/,
      ),
    });
  });
});

test('a newer version of the app in another tab closes the database here, and the older version cannot reopen it (L9, F14)', async ({
  profile,
}) => {
  const old = await profile.openTab();
  await openNotes(old, 'upgraded');
  await rememberClosed(old);
  const newer = await profile.openTab();
  const version = await newer.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const asked = indexedDB.open('upgraded', 1000);
        asked.addEventListener('error', () => reject(new Error('not opened')));
        asked.addEventListener('success', () => {
          const { version } = asked.result;
          asked.result.close();
          resolve(version);
        });
      }),
  );
  expect(version).toBe(1000);
  await expect.poll(() => closedEvents(old)).toEqual([expect.stringMatching(/newer version/)]);
  expect(await queryFailure(old)).toMatch(/storage_unavailable: .*newer version.*Reload the page/);
  expect(await openingFailure(old, 'upgraded')).toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringMatching(/newer version of the app/),
  });
});

/** Simulates the migration of a newer version: changes the format in each stamp, and in the mark of each row of `meta` and of the log. */
const raiseFormat = (page: Page, name: string): Promise<number> =>
  page.evaluate(
    (name) =>
      new Promise<number>((resolve, reject) => {
        const asked = indexedDB.open(name);
        asked.addEventListener('error', () => reject(new Error('not opened')));
        asked.addEventListener('success', () => {
          const names = [...asked.result.objectStoreNames];
          const tx = asked.result.transaction(names, 'readwrite');
          let stamps = 0;
          for (const space of names) {
            tx.objectStore(space)
              .openCursor()
              .addEventListener('success', ({ target }) => {
                const cursor = (target as IDBRequest<IDBCursorWithValue | null>).result;
                if (!cursor) return;
                const row = cursor.value as { readonly c?: string };
                if (cursor.key === 0) {
                  stamps++;
                  cursor.update({ ...row, format: 99 });
                } else if (row.c !== undefined) {
                  const c = row.c.replace('.1.', '.99.');
                  cursor.update({ ...row, c });
                  // A release that raises the format of a packed store also appends a record to the log.
                  if (space === 'commits' && cursor.key === 1) tx.objectStore(space).add({ c });
                }
                cursor.continue();
              });
          }
          tx.addEventListener('complete', () => {
            asked.result.close();
            resolve(stamps);
          });
        });
      }),
    name,
  );

test('rows of a newer format are neither written nor opened', async ({ profile }) => {
  const old = await profile.openTab();
  await openNotes(old, 'newer');
  await rememberClosed(old);
  const other = await profile.openTab();
  expect(await raiseFormat(other, 'newer')).toBe(5);
  expect(await queryFailure(old)).toMatch(/newer version of the app/);
  await expect.poll(() => closedEvents(old)).toEqual([expect.stringMatching(/newer version/)]);
  expect(await openingFailure(other, 'newer')).toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringMatching(/newer version of the app/),
  });
});

test('if another tab destroys a database, all calls here settle, and it can be created again', async ({
  profile,
}) => {
  const here = await profile.openTab();
  await openNotes(here, 'destroyed');
  await rememberClosed(here);
  const there = await profile.openTab();
  await openNotes(there, 'destroyed');
  const underWay = here.evaluate(() => {
    const { q } = burrow;
    const write = () => db.client().query(q.Create(q.Collection('notes'), { data: {} }));
    const outcomes = Array.from({ length: 200 }, () =>
      write().then(
        () => 'answered',
        (error: Error) => error.name,
      ),
    );
    return Promise.all(outcomes);
  });
  await there.evaluate(() => db.destroy());
  const outcomes = await underWay;
  await expect.poll(() => closedEvents(here)).toEqual([expect.stringMatching(/deleted/)]);
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  print('destroyed elsewhere', counts);
  expect(await queryFailure(here)).toMatch(/storage_unavailable: .*deleted/);
  expect(await openNotes(there, 'destroyed')).toBeUndefined();
  expect(
    await there.evaluate(() =>
      db.client().query(burrow.q.Count(burrow.q.Documents(burrow.q.Collection('notes')))),
    ),
  ).toBe(0);
});

const clear = async (profile: BrowserProfile, page: Page, storageTypes: string): Promise<void> => {
  const session = await profile.debug(page);
  const { origin } = new URL(appUrl());
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
};

/** Deletes IndexedDB, as a browser does when it needs space. */
const evict = (profile: BrowserProfile, page: Page): Promise<void> =>
  clear(profile, page, 'indexeddb');

test('a database that the browser evicted reports the loss at each open until it is acknowledged (L7, F11)', async ({
  profile,
}) => {
  const page = await profile.openTab();
  await openNotes(page, 'evicted');
  await page.evaluate(async () => {
    await db.client().query(burrow.q.Create(burrow.q.Collection('notes'), { data: {} }));
    await db.close();
  });
  await evict(profile, page);
  for (let open = 0; open < 2; open++) {
    expect(await openingFailure(page, 'evicted')).toBeUndefined();
    const loss = await page.evaluate(() => db.loss);
    expect(loss).toMatchObject({
      kind: 'recreated',
      lastCommit: expect.any(Date),
      description: expect.stringMatching(/All data of this database is lost/),
    });
    await page.evaluate(() => db.close());
  }
  await openingFailure(page, 'evicted');
  await page.evaluate(async () => {
    await db.acknowledgeLoss();
    await db.close();
  });
  expect(await openingFailure(page, 'evicted')).toBeUndefined();
  expect(await page.evaluate(() => db.loss)).toBeUndefined();
});

test('a database that the browser evicts while it is open closes, and reports the loss when it is reopened (L7, F9)', async ({
  profile,
}) => {
  const page = await profile.openTab();
  await openNotes(page, 'evicted');
  await rememberClosed(page);
  expect(await queryFailure(page)).toBe('answered');
  await evict(profile, page);
  const failure = await queryFailure(page);
  expect(failure).toMatch(
    /local_data_loss|storage_unavailable: The browser deleted the stored data/,
  );
  await expect.poll(() => closedEvents(page)).toEqual([expect.stringMatching(/deleted/)]);
  expect(await openingFailure(page, 'evicted')).toBeUndefined();
  expect(await page.evaluate(() => db.loss)).toMatchObject({ kind: 'recreated' });
});

test("after a user clears the site's data, the page can reopen the database, with a new worker", async ({
  profile,
}) => {
  const page = await profile.openTab();
  await openNotes(page, 'cleared');
  await rememberClosed(page);
  await clear(profile, page, 'all');
  expect(await queryFailure(page)).toMatch(/storage_unavailable: .*deleted.*Open it again/);
  await expect.poll(() => closedEvents(page)).toEqual([expect.stringMatching(/deleted/)]);
  expect(await openingFailure(page, 'cleared')).toBeUndefined();
  const answers = await page.evaluate(async () => {
    const answers = new Set<unknown>();
    for (let asked = 0; asked < 100; asked++)
      answers.add(
        await db
          .client()
          .query(1)
          .catch((error: Error) => error.message),
      );
    return [...answers];
  });
  expect(answers).toEqual([1]);
});

test('in Node the package can be imported, and openDatabase() rejects with an explanation', async () => {
  const code =
    "import { openDatabase, q } from 'burrowdb';" +
    'await openDatabase("x").catch(({ name, message }) => console.log(`${name}: ${message}`));' +
    'console.log(JSON.stringify(q.Add(1, 2)));';
  const cwd = process.env['BURROW_E2E_PACKAGE'];
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', code],
    // Color settings of the test runner in the environment would make Node print warnings.
    { env: { PATH: process.env['PATH'] }, ...(cwd !== undefined && { cwd }) },
  );
  expect(stdout).toBe(
    'Unsupported: A database can only be opened in a page, not in a service worker. On a server, use burrowdb/node or burrowdb/remote.\n{"add":[1,2]}\n',
  );
  expect(stderr).toBe('');
});
