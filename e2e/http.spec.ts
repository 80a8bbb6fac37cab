import { expect, type Page } from '@playwright/test';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { test } from './support/app-test.ts';
import { appUrl, type BrowserProfile } from './support/browser-profile.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: unknown;
}

interface Secrets {
  readonly root: string;
  readonly key: string;
  readonly token: string;
}

/** Opens a database with one user, who is logged in. */
const openUsers = (page: Page, name: string): Promise<Secrets> =>
  page.evaluate(async (name) => {
    const { q } = burrow;
    globalThis.db = await burrow.openDatabase(name, { log: { enabled: true } });
    const admin = db.client();
    await admin.query(q.CreateCollection({ name: 'users' }));
    const user = await admin.query(
      q.Create(q.Ref(q.Collection('users'), '7'), {
        data: {},
        credentials: { password: 'correct horse' },
      }),
    );
    const { secret: token } = await admin.Login(user.ref, { password: 'correct horse' });
    const key = await admin.query(q.CreateKey({ role: 'admin' }));
    return { root: db.rootSecret, token, key: (key as unknown as { secret: string }).secret };
  }, name);

/** Sends a request with `db.fetch`, or with the page's own `fetch` through the service worker. */
const ask = (
  page: Page,
  how: 'db' | 'page',
  url: string,
  init: RequestInit = {},
): Promise<Answer> =>
  page.evaluate(
    async ({ how, url, init }) => {
      const response = await (how === 'db' ? db.fetch(url, init) : fetch(url, init));
      const text = await response.text();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        json: text.startsWith('{') ? (JSON.parse(text) as unknown) : text,
      };
    },
    { how, url, init },
  );

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });
const basic = (secret: string) => ({ headers: { authorization: `Basic ${btoa(`${secret}:`)}` } });
const query = (secret: string, body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { ...bearer(secret).headers, 'x-faunadb-api-version': '4' },
});

/** Checks that the routes respond alike in both ways. */
async function expectRoutes(page: Page, how: 'db' | 'page', base: string, secrets: Secrets) {
  const { root, token, key } = secrets;
  expect(await ask(page, how, `${base}/ping`)).toMatchObject({
    status: 200,
    json: { resource: expect.stringMatching(/OK$/) },
  });
  expect(await ask(page, how, `${base}/`, query(root, { add: [1, 2] }))).toMatchObject({
    status: 200,
    json: { resource: 3 },
    headers: { 'x-txn-time': expect.stringMatching(/^\d+$/), 'x-query-time': expect.any(String) },
  });
  expect(await ask(page, how, `${base}/`, query(root, { get: { '@ref': 1 } }))).toMatchObject({
    status: 400,
    json: { errors: [{ code: 'invalid expression' }] },
  });
  for (const init of [basic(token), bearer(token)]) {
    const { status, json } = await ask(page, how, `${base}/tokens/self`, init);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      resource: {
        ref: { '@ref': { id: expect.stringMatching(/^\d+$/) } },
        ts: expect.any(Number),
        instance: { '@ref': { id: '7', class: { '@ref': { id: 'users' } } } },
        hashed_secret: expect.any(String),
      },
    });
    expect(JSON.stringify(json)).not.toContain(token);
  }
  const unauthorized = { status: 401, json: { errors: [{ code: 'unauthorized' }] } };
  expect(await ask(page, how, `${base}/tokens/self`)).toMatchObject(unauthorized);
  expect(await ask(page, how, `${base}/tokens/self`, bearer('nobody'))).toMatchObject(unauthorized);
  expect(await ask(page, how, `${base}/`, query('nobody', 1))).toMatchObject(unauthorized);
  expect((await ask(page, how, `${base}/tokens/self`, bearer(key))).status).toBe(404);
  expect((await ask(page, how, `${base}/no/such/place`, bearer(key))).status).toBe(404);
  expect(
    await ask(page, how, `${base}/api/v1/logs/none?type=query&regionGroup=local`),
  ).toMatchObject({
    status: 401,
    json: { message: expect.any(String) },
  });
}

test('db.fetch answers the routes of the HTTP API without sending a request', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const secrets = await openUsers(page, 'http');
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  for (const base of ['https://db.fauna.com', '', 'http://localhost:8443'])
    await expectRoutes(page, 'db', base, secrets);
  expect(requests).toEqual([]);
});

/** Registers the package's service worker for the app, with the prefix `/burrow/`. */
const registerServiceWorker = (page: Page, name: string): Promise<void> =>
  page.evaluate(async (name) => {
    await navigator.serviceWorker.register(`./service-worker.js?prefix=/burrow/&database=${name}`);
    if (navigator.serviceWorker.controller) return;
    await new Promise((resolve) =>
      navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }),
    );
  }, name);

/** A tab of the app's origin that has no database open. */
async function openBareTab(profile: BrowserProfile): Promise<Page> {
  const page = await (await profile.start()).newPage();
  await page.goto(appUrl());
  return page;
}

test('plain fetch reaches the database through the service worker, from this tab and from others', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const secrets = await openUsers(page, 'served');
  await registerServiceWorker(page, 'served');
  await expectRoutes(page, 'page', '/burrow', secrets);
  // A tab without the database gets its response from a tab that has it open.
  const other = await openBareTab(profile);
  expect(await ask(other, 'page', '/burrow/tokens/self', basic(secrets.token))).toMatchObject({
    status: 200,
    json: { resource: { instance: { '@ref': { id: '7' } } } },
  });
  // Each write is executed once, although two tabs could execute it.
  await other.evaluate(async () => {
    globalThis.db = await burrow.openDatabase('served');
  });
  const create = { create: { collection: 'users' }, params: { object: { data: { object: {} } } } };
  for (let n = 0; n < 10; n++)
    expect(
      (await ask(n % 2 ? page : other, 'page', '/burrow/', query(secrets.key, create))).status,
    ).toBe(201);
  const count = { count: { documents: { collection: 'users' } } };
  expect(await ask(page, 'page', '/burrow/', query(secrets.key, count))).toMatchObject({
    json: { resource: 11 },
  });
});

test('the service worker answers 503 if no tab has the database open, and 200 when one opens it again', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const { key } = await openUsers(page, 'served');
  await registerServiceWorker(page, 'served');
  const other = await openBareTab(profile);
  expect((await ask(other, 'page', '/burrow/', query(key, 1))).status).toBe(200);
  await page.close();
  expect(await ask(other, 'page', '/burrow/', query(key, 1))).toMatchObject({
    status: 503,
    json: { errors: [{ code: 'time out', description: expect.stringMatching(/Open the app/) }] },
  });
  await other.evaluate(async () => {
    globalThis.db = await burrow.openDatabase('served');
  });
  expect((await ask(other, 'page', '/burrow/', query(key, 1))).status).toBe(200);
  await other.evaluate(() => db.close());
  expect(
    (await ask(other, 'page', '/burrow/api/v1/logs/x?type=query&regionGroup=local')).status,
  ).toBe(503);
});

test('a plain link downloads a log export through the service worker', async ({ profile }) => {
  const page = await profile.openTab();
  const { root } = await openUsers(page, 'served');
  await registerServiceWorker(page, 'served');
  await page.evaluate(() => db.client().query(burrow.q.Add(20, 22)));
  const range = {
    time_start: new Date(Date.now() - 3_600_000).toISOString(),
    time_end: new Date(Date.now() + 3_600_000).toISOString(),
  };
  const logs = '/burrow/api/v1/logs';
  const rest = '?type=query&regionGroup=local';
  const init = { ...bearer(root), method: 'POST', body: JSON.stringify(range) };
  const asked = await ask(page, 'page', `${logs}${rest}`, init);
  expect(asked.status).toBe(200);
  const { request_id } = asked.json as { readonly request_id: string };
  const status = async () =>
    (await ask(page, 'page', `${logs}/${request_id}${rest}`, bearer(root))).json as {
      readonly state: string;
      readonly presigned_url: string;
    };
  await expect.poll(async () => (await status()).state).toBe('Complete');
  const { presigned_url } = await status();
  expect(presigned_url).toMatch(new RegExp(`^${appUrl()}burrow/files/`));

  const started = page.waitForEvent('download');
  await page.evaluate((href) => {
    const link = Object.assign(document.createElement('a'), { href, textContent: 'Log' });
    document.body.append(link);
    link.click();
  }, presigned_url);
  const download = await started;
  expect(download.suggestedFilename()).toMatch(/\.gz$/);
  const text = gunzipSync(await readFile(await download.path())).toString('utf8');
  expect(text).toContain('"QUERY":"{\\"add\\":[20,22]}"');
  const answer = await ask(page, 'page', presigned_url);
  expect(answer).toMatchObject({
    status: 200,
    headers: { 'content-type': 'application/gzip', 'x-content-type-options': 'nosniff' },
  });
  // The signature in the URL is the credential.
  const forged = presigned_url.replace(/signature=.*/, 'signature=forged');
  expect((await ask(page, 'page', forged)).status).toBe(403);
});
