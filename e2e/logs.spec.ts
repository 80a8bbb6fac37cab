import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { expect, type Page } from '@playwright/test';
import { print, test } from './support/app-test.ts';
import { loadApp } from './support/browser-profile.ts';

/** Passwords that must not occur in anything that is stored or exported. */
const PASSWORD = 'canary-password-wren';
const NEXT_PASSWORD = 'canary-password-lark';

interface Line {
  readonly TS: string;
  readonly QUERY?: string;
  readonly REQUEST_ID: string;
  readonly RESPONSE_CODE: string;
  readonly ERROR_CODE?: string;
  readonly [member: string]: unknown;
}

const openLog = (page: Page, name: string): Promise<void> =>
  page.evaluate(async (name) => {
    globalThis.db = await burrow.openDatabase(name, { log: { enabled: true } });
  }, name);

/** Executes queries of every kind that contains a secret. @returns the secrets */
const writeSecrets = (page: Page): Promise<readonly string[]> =>
  page.evaluate(
    async ([password = '', next = '']) => {
      const { q } = burrow;
      const admin = db.client();
      await admin.query(q.CreateCollection({ name: 'users' }));
      const key = await admin.query(q.CreateKey({ role: 'admin' }));
      const keySecret = (key as unknown as { readonly secret: string }).secret;
      const user = await admin.query(
        q.Create(q.Collection('users'), {
          data: { name: 'Wren' },
          credentials: { password },
        }),
      );
      await admin.Login(user.ref, { password: 'a wrong one' }).catch(() => undefined);
      const token = await admin.Login(user.ref, { password });
      await admin.query(q.Identify(user.ref, password));
      await admin.query(q.Let({ password }, q.Identify(user.ref, q.Var('password'))));
      await admin.query(q.KeyFromSecret(keySecret));
      await db.client({ secret: token.secret }).query(q.CurrentIdentity());
      await admin.query(q.Update(user.ref, { credentials: { password: next } }));
      await db.fetch('http://db/', {
        method: 'POST',
        headers: { authorization: `Bearer ${keySecret}` },
        body: JSON.stringify({ key_from_secret: keySecret }),
      });
      await db
        .client({ secret: `${keySecret}:users/1` })
        .query(1)
        .catch(() => undefined);
      return [db.rootSecret, keySecret, token.secret];
    },
    [PASSWORD, NEXT_PASSWORD],
  );

/** Requests an export and waits for its end. */
const exportLog = (page: Page, from: string, to: string) =>
  page.evaluate(
    async ({ from, to }) => {
      const { request_id } = await db.logs.request({ time_start: from, time_end: to });
      for (;;) {
        const record = await db.logs.status(request_id);
        if (!['Pending', 'Requested', 'CreatingNewUrl'].includes(record.state)) return record;
      }
    },
    { from, to },
  );

/** Downloads a URL by a link, as a user would. @returns the lines of the file */
async function download(page: Page, url: string | undefined): Promise<readonly Line[]> {
  const started = page.waitForEvent('download');
  await page.evaluate((href = '') => {
    const link = Object.assign(document.createElement('a'), { href, download: 'log.ndjson.gz' });
    link.click();
  }, url);
  const path = await (await started).path();
  const text = gunzipSync(await readFile(path)).toString('utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const isoOf = ({ TS }: Line): string => TS.replace(' ', 'T').replace(' Z', 'Z');
const LONG_AGO = '2026-01-01T00:00:00Z';
const hours = (count: number): string => new Date(Date.now() + count * 3_600_000).toISOString();
const fromAnHourAgo = (): [string, string] => [hours(-1), hours(1)];

/** All rows of all IndexedDB databases of the origin, as text. */
const everythingStored = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const settled = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(new Error('not read')));
      });
    // Shows bytes as text.
    const shown = (_: string, each: unknown): unknown =>
      each instanceof Uint8Array ? new TextDecoder('latin1').decode(each) : each;
    const texts: string[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const idb = await settled(indexedDB.open(name));
      for (const space of idb.objectStoreNames) {
        const rows = await settled(idb.transaction(space).objectStore(space).getAll());
        texts.push(space, JSON.stringify(rows, shown));
      }
      idb.close();
    }
    return texts.join('\n');
  });

test('a log export can be downloaded and unzipped; neither the file nor the storage contains a secret', async ({
  profile,
}) => {
  const page = await profile.openTab();
  await openLog(page, 'secrets');
  const secrets = [...(await writeSecrets(page)), PASSWORD, NEXT_PASSWORD];
  const record = await exportLog(page, ...fromAnHourAgo());
  expect(record).toMatchObject({ state: 'Complete', version: 0, region_group: 'local' });
  const lines = await download(page, record.presigned_url);
  const queries = lines.map(({ QUERY }) => QUERY ?? '');
  for (const part of [
    'create_collection',
    'login',
    'identify',
    'key_from_secret',
    'current_identity',
  ])
    expect(
      queries.some((query) => query.includes(part)),
      part,
    ).toBe(true);
  expect(queries.filter((query) => query.includes('***')).length).toBeGreaterThan(4);
  const failed = lines.filter(({ ERROR_CODE }) => ERROR_CODE === 'authentication failed');
  expect(failed.map(({ RESPONSE_CODE }) => RESPONSE_CODE)).toEqual(['400']);
  expect(new Set(lines.map(({ REQUEST_ID }) => REQUEST_ID)).size).toBe(lines.length);

  const places = { file: JSON.stringify(lines), storage: await everythingStored(page) };
  print('log export', { lines: lines.length, storedCharacters: places.storage.length });
  expect(places.storage).toContain('Wren');
  for (const [place, text] of Object.entries(places))
    for (const secret of secrets)
      expect(text.includes(secret), `a secret in the ${place}`).toBe(false);
});

test('a range includes its start and excludes its end; the export of an empty range does not exist', async ({
  profile,
}) => {
  const page = await profile.openTab();
  await openLog(page, 'ranges');
  await page.evaluate(async () => {
    for (let n = 0; n < 60; n++) await db.client().query(burrow.q.Add(n, 1));
  });
  const whole = await download(page, (await exportLog(page, ...fromAnHourAgo())).presigned_url);
  expect(whole.length).toBe(60);
  const times = [...new Set(whole.map(isoOf))].sort();
  const [from = '', to = ''] = [times[5], times.at(-5)];
  expect(from < to).toBe(true);
  const part = await download(page, (await exportLog(page, from, to)).presigned_url);
  const expected = whole.filter((line) => isoOf(line) >= from && isoOf(line) < to);
  print('log range', { whole: whole.length, part: part.length });
  expect(part.map(({ REQUEST_ID }) => REQUEST_ID)).toEqual(
    expected.map(({ REQUEST_ID }) => REQUEST_ID),
  );
  const empty = await exportLog(page, LONG_AGO, '2026-01-02T00:00:00Z');
  expect(empty.state).toBe('DoesNotExist');
  expect(empty.presigned_url).toBeUndefined();
});

test('exports survive a restart, are listed by state, and get new URLs', async ({ profile }) => {
  const page = await profile.openTab();
  await openLog(page, 'kept');
  await page.evaluate(() => db.client().query(burrow.q.Add(40, 2)));
  const record = await exportLog(page, ...fromAnHourAgo());
  const none = await exportLog(page, LONG_AGO, '2026-01-02T00:00:00Z');
  // Restarts the browser too.
  await profile.close();

  const later = await profile.openTab();
  await openLog(later, 'kept');
  const lists = await later.evaluate(async () => ({
    all: await db.logs.list(),
    complete: await db.logs.list({ states: ['Complete'] }),
    failed: await db.logs.list({ states: ['Failed', 'TimedOut'] }),
    first: await db.logs.list({ max_results: 1 }),
  }));
  const ids = ({ results }: (typeof lists)['all']) => results.map(({ request_id }) => request_id);
  expect(ids(lists.all)).toEqual([none.request_id, record.request_id]);
  expect(ids(lists.complete)).toEqual([record.request_id]);
  expect(ids(lists.failed)).toEqual([]);
  expect(ids(lists.first)).toEqual([none.request_id]);
  const rest = await later.evaluate(
    (next_token = '') => db.logs.list({ next_token }),
    lists.first.next_token,
  );
  expect(ids(rest)).toEqual([record.request_id]);

  const read = async () => await later.evaluate((id) => db.logs.status(id), record.request_id);
  const before = await read();
  expect(before.version).toBe(record.version);
  const [line] = await download(later, before.presigned_url);
  expect(line?.QUERY).toBe('{"add":[40,2]}');
  const renewed = await later.evaluate((id) => db.logs.createUrl(id), record.request_id);
  expect(renewed).toMatchObject({ state: 'Complete', version: record.version + 1 });
  expect(renewed.presigned_url).not.toBe(before.presigned_url);
  expect(await download(later, renewed.presigned_url)).toEqual([line]);
  // A client that knows an older version gets the newer one; no further version is made.
  const told = await later.evaluate(({ id, version }) => db.logs.createUrl(id, { version }), {
    id: record.request_id,
    version: record.version,
  });
  expect(told.version).toBe(renewed.version);
  const isThere = (url: string | undefined) =>
    later.evaluate(
      (url = '') =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      url,
    );
  expect([await isThere(before.presigned_url), await isThere(renewed.presigned_url)]).toEqual([
    false,
    true,
  ]);
});

test('the URL of an export stops working when it expires', async ({ profile }) => {
  const page = await profile.openTab();
  await page.clock.install();
  await loadApp(page);
  await openLog(page, 'expiry');
  await page.evaluate(() => db.client().query(1));
  const record = await exportLog(page, ...fromAnHourAgo());
  const life = Date.parse(record.presigned_url_expiration_time ?? '') - Date.now();
  print('URL of an export', { lifeMinutes: Math.round(life / 60_000) });
  const isThere = (url: string | undefined) =>
    page.evaluate(
      (url = '') =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      url,
    );
  expect(await isThere(record.presigned_url)).toBe(true);
  await page.clock.fastForward(life - 60_000);
  expect(await isThere(record.presigned_url)).toBe(true);
  await page.clock.fastForward(120_000);
  expect(await isThere(record.presigned_url)).toBe(false);
});
