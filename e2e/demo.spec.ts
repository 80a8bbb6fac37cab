/** The demo as a new user sees it, in one browser in which the cities are imported once. */
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test, type BrowserContext, type Page } from '@playwright/test';
import { BrowserProfile } from './support/browser-profile.ts';
import { idsInOrder, packagedCities } from './support/city-list.ts';

test.describe.configure({ mode: 'serial' });

const IMPORT_MS = 400_000;
const PASSWORD = 'correct horse battery';
/** A country with several pages of cities, some of which have equal names or equal populations. */
const COUNTRY = 'DZ';
const PARIS = '2988507';

let profile: BrowserProfile;
let context: BrowserContext;
let home: string;
/** Errors that pages have reported. */
const complaints: string[] = [];

test.beforeAll(async ({ baseURL, launchOptions }) => {
  home = baseURL ?? '';
  profile = await BrowserProfile.create(launchOptions);
  context = await profile.start();
});

test.afterEach(() => {
  expect(complaints.splice(0), 'errors in the console').toEqual([]);
});

test.afterAll(async () => {
  await profile.remove();
});

async function open(place = '#/'): Promise<Page> {
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${home}${place}`);
  return page;
}

const listed = (page: Page): Promise<string[]> =>
  page
    .getByTestId('cities')
    .getByRole('listitem')
    .evaluateAll((items) => items.map((item) => item.dataset['city'] ?? ''));

/** Goes to another page of the list and waits until it is shown. */
async function turn(page: Page, button: string): Promise<void> {
  await page.getByTestId(button).click();
  await settled(page);
}

async function settled(page: Page): Promise<void> {
  const pager = page.getByRole('navigation', { name: 'Pages' });
  await expect(pager).not.toHaveAttribute('aria-busy', 'true');
  await expect(page.getByTestId('cities').getByRole('listitem').first()).toBeVisible();
}

async function signIn(
  page: Page,
  kind: 'log-in' | 'sign-up',
  { email, loginName }: { readonly email: string; readonly loginName: string },
): Promise<void> {
  await page.getByTestId('email').fill(email);
  await page.getByTestId('password').fill(PASSWORD);
  await page.getByTestId('login-name').fill(loginName);
  await page.getByTestId(kind).click();
}

const logins = (page: Page) => page.getByTestId('logins').getByRole('listitem');

test('the whole data set is imported, each city once, even if the page is reloaded during the import', async () => {
  test.setTimeout(IMPORT_MS);
  const page = await open();
  const bar = page.getByTestId('import-bar');
  const done = (): Promise<number> => bar.evaluate((node) => (node as HTMLProgressElement).value);
  await expect.poll(done, { timeout: IMPORT_MS }).toBeGreaterThan(5000);
  await page.reload();
  await expect(page.getByTestId('import')).toHaveAttribute('data-phase', 'complete', {
    timeout: IMPORT_MS,
  });
  await page.goto(`${home}#/query`);
  const countOf = async (query: string): Promise<string | null> => {
    await page.getByTestId('query').fill(query);
    await page.getByTestId('run').click();
    await expect(page.locator('form.query')).toHaveAttribute('aria-busy', 'false');
    return page.getByTestId('result').textContent();
  };
  expect(await countOf('Count(Documents(Collection("cities")))')).toBe(
    String(packagedCities.length),
  );
  expect(await countOf('Count(Match(Index("cities_by_country"), "US"))')).toBe(
    String(idsInOrder('US', 'name').length),
  );
  await page.close();
});

for (const order of ['name', 'population'] as const) {
  test(`pages by ${order} contain each city of a country once, forward and backward`, async () => {
    const expected = idsInOrder(COUNTRY, order);
    const page = await open(`#/country/${COUNTRY}?order=${order}`);
    await settled(page);
    await expect(page.getByTestId('previous')).toBeDisabled();
    const forward = await listed(page);
    while (await page.getByTestId('next').isEnabled()) {
      await turn(page, 'next');
      forward.push(...(await listed(page)));
    }
    expect(forward).toEqual(expected);

    await turn(page, 'first');
    expect(await listed(page)).toEqual(expected.slice(0, 20));
    await turn(page, 'last');
    const backward = await listed(page);
    await expect(page.getByTestId('next')).toBeDisabled();
    while (await page.getByTestId('previous').isEnabled()) {
      await turn(page, 'previous');
      backward.unshift(...(await listed(page)));
    }
    expect(backward).toEqual(expected);
    await page.close();
  });
}

test('typing the start of a name opens the list at that name', async () => {
  const page = await open('#/country/FR');
  await settled(page);
  await page.getByTestId('jump').fill('saint-m');
  await expect(page.locator('mark').first()).toHaveText('Saint-M');
  const names = new Map(packagedCities.map((city) => [String(city.cityId), city.name]));
  const expected = idsInOrder('FR', 'name').filter((id) => (names.get(id) ?? '') >= 'Saint-M');
  await expect.poll(() => listed(page)).toEqual(expected.slice(0, 20));
  await page.close();
});

test('two accounts sign up, log in with named logins, and log out of one login or of all', async () => {
  const page = await open('#/account');
  await signIn(page, 'log-in', { email: 'nobody@example.org', loginName: 'x' });
  await expect(page.getByTestId('sign-in-problem')).toContainText('do not match');

  await signIn(page, 'sign-up', { email: 'ada@example.org', loginName: 'laptop' });
  await expect(page.getByTestId('account-email')).toHaveText('ada@example.org');
  await expect(logins(page)).toHaveText([/^laptop/]);

  await page.getByTestId('add-login').click();
  await signIn(page, 'sign-up', { email: 'ada@example.org', loginName: 'again' });
  await expect(page.getByTestId('sign-in-problem')).toContainText('already');
  await signIn(page, 'log-in', { email: 'ADA@example.org', loginName: 'train' });
  await expect(logins(page)).toHaveText([/^laptop/, /^train/]);

  await page.getByTestId('add-login').click();
  await signIn(page, 'sign-up', { email: 'bob@example.org', loginName: 'phone' });
  await expect(page.getByTestId('account-email')).toHaveText('bob@example.org');
  await expect(logins(page)).toHaveText([/^phone/]);
  await expect(page.getByTestId('accounts').getByRole('listitem')).toHaveCount(3);

  await page.getByRole('button', { name: 'Use ada@example.org, train' }).click();
  await page.getByTestId('log-out').click();
  // The first of the remaining logins becomes the current one.
  await expect(page.getByTestId('accounts').getByRole('listitem')).toHaveCount(2);
  await expect(logins(page)).toHaveText([/^laptop/]);
  await page.reload();
  await expect(page.getByTestId('who')).toHaveText('ada@example.org');
  await page.getByTestId('log-out-all').click();
  await expect(page.getByTestId('account-email')).toHaveText('bob@example.org');
  await expect(page.getByTestId('accounts').getByRole('listitem')).toHaveCount(1);
  await page.close();
});

test('a change is shown in the history with its editor, and at once in another tab', async () => {
  const [watcher, other] = [await open('#/country/FR?order=population'), await open('#/account')];
  await settled(watcher);
  await signIn(other, 'log-in', { email: 'ada@example.org', loginName: 'desk' });
  await expect(other.getByTestId('account-email')).toHaveText('ada@example.org');
  await other.goto(`${home}#/city/${PARIS}`);
  await expect(other.getByTestId('history').getByRole('listitem')).toHaveCount(1);
  await other.getByTestId('edit').click();
  await other.getByTestId('edit-name').fill('Paname');
  await other.getByTestId('edit-population').fill('2000000');
  await other.getByTestId('save').click();

  await expect(other.getByTestId('city-name')).toHaveText('Paname');
  const versions = other.getByTestId('history').getByRole('listitem');
  await expect(versions).toHaveCount(2);
  await expect(versions.first()).toContainText('by ada@example.org');
  await expect(versions.first()).toContainText('Paris → Paname');
  await expect(versions.first()).toContainText('→ 2,000,000');
  await expect(versions.last()).toContainText('Imported');

  const row = watcher.locator(`[data-city="${PARIS}"]`);
  await expect(row).toContainText('Paname');
  await expect(row).toContainText('2,000,000');
  await expect(row).toHaveClass('lit');
  await watcher.close();
  await other.close();
});

test('a visitor reads a city and is asked to log in before changing it', async () => {
  const page = await open(`#/city/${PARIS}`);
  await expect(page.getByTestId('city-name')).toHaveText('Paname');
  await expect(page.getByRole('link', { name: 'Log in' })).toBeVisible();
  await expect(page.getByTestId('edit')).toHaveCount(0);
  await page.close();
});

test('the query panel shows results, and an error leads to the faulty place in the query', async () => {
  const page = await open('#/query');
  const query = page.getByTestId('query');
  await query.fill('Map([1, 2], x => Add(x, 1))');
  await query.press('Control+Enter');
  await expect(page.getByTestId('result')).toHaveText('[2, 3]');
  await expect(page.getByTestId('metrics')).toContainText('compute');
  await query.fill('Get(\n  Ref(Collection("cites"), "1")\n)');
  await query.press('Control+Enter');
  await expect(page.getByTestId('query-problem')).toContainText('invalid ref');
  await page.getByRole('button', { name: 'Show line 2, column 3' }).click();
  await page.getByTestId('form').selectOption('wire');
  await query.fill('{"add": [1, 2.5]}');
  await query.press('Control+Enter');
  await expect(page.getByTestId('result')).toHaveText('3.5');
  await page.getByTestId('form').selectOption('builders');
  await page.getByTestId('actor').selectOption('client');
  await query.fill('Create(Collection("cities"), { data: {} })');
  await query.press('Control+Enter');
  await expect(page.getByTestId('query-problem')).toContainText('permission denied');
  await page.close();
});

test('the query panel explains the call at the caret and inserts its example', async () => {
  const page = await open('#/query');
  const query = page.getByTestId('query');
  await query.fill('Map([1, 2], Concat(');
  const help = page.getByTestId('help');
  await expect(help).toContainText('Concat(strings, separator?)');
  await expect(help).toContainText('→ "2026-03-01"');
  await page.getByRole('button', { name: 'Insert this example' }).click();
  await page.getByTestId('run').click();
  await expect(page.getByTestId('result')).toHaveText('"2026-03-01"');
  await page.getByText('All forms of the language').click();
  await page.getByRole('button', { name: 'quote', exact: true }).click();
  await page.getByRole('button', { name: 'Insert this example' }).click();
  await page.getByTestId('run').click();
  await expect(page.getByTestId('result')).toContainText('Date("2026-03-01")');
  await page.close();
});

test('the query log is downloaded as gzip, and earlier files are listed', async () => {
  const page = await open('#/account');
  await signIn(page, 'log-in', { email: 'nobody@example.org', loginName: 'x' });
  await expect(page.getByTestId('sign-in-problem')).toContainText('do not match');
  await page.goto(`${home}#/log`);
  await page.getByTestId('export').click();
  const file = page.getByTestId('exports').getByRole('listitem').first();
  await expect(file).toHaveAttribute('data-state', 'Complete');
  const downloading = page.waitForEvent('download');
  await file.getByTestId('download').click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/\.jsonl\.gz$/);
  const text = gunzipSync(await readFile(await download.path())).toString();
  const records = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(records.length).toBeGreaterThan(100);
  expect(records.every((record) => typeof record['REQUEST_ID'] === 'string')).toBe(true);
  expect(records.some((record) => String(record['QUERY']).includes('cities_by_country'))).toBe(
    true,
  );
  expect(records.some((record) => record['ERROR_CODE'] === 'authentication failed')).toBe(true);
  expect(text).not.toContain(PASSWORD);

  await page.reload();
  await expect(file).toHaveAttribute('data-state', 'Complete');
  await file.getByTestId('new-link').click();
  await expect(page.getByRole('status')).toContainText('New link created');
  await page.close();
});

test('without a network the app starts, reads, logs in and writes', async () => {
  const page = await open();
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  await context.setOffline(true);
  try {
    await page.reload();
    await expect(page.getByTestId('offline')).toBeVisible();
    await page.getByRole('link', { name: 'Japan' }).click();
    await settled(page);
    expect(await listed(page)).toEqual(idsInOrder('JP', 'name').slice(0, 20));
    await page.goto(`${home}#/account`);
    await signIn(page, 'log-in', { email: 'bob@example.org', loginName: 'plane' });
    await expect(page.getByTestId('account-email')).toHaveText('bob@example.org');
    await page.goto(`${home}#/city/${PARIS}`);
    await page.getByTestId('edit').click();
    await page.getByTestId('edit-population').fill('2100000');
    await page.getByTestId('save').click();
    await expect(page.getByTestId('population')).toHaveText('2,100,000');
    await page.reload();
    await expect(page.getByTestId('population')).toHaveText('2,100,000');
  } finally {
    await context.setOffline(false);
  }
  await page.close();
});
