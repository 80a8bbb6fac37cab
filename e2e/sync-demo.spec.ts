/** The page "Sync" of the demo: two people in two browsers, with the network off and on. */
import { expect, test, type Browser, type BrowserContext, type Page } from '@playwright/test';

test.describe.configure({ mode: 'serial' });

interface Window {
  readonly context: BrowserContext;
  readonly page: Page;
}

async function openWindow(browser: Browser, width = 900): Promise<Window> {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const page = await context.newPage();
  await page.goto('./#/sync');
  return { context, page };
}

async function logIn(page: Page, name: string): Promise<void> {
  await page.getByRole('radio', { name }).check();
  await page.getByTestId('sync-log-in').click();
  await expect(page.getByTestId('sync-person')).toHaveText(`${name}’s copy`);
  await expect(badge(page)).toContainText('Up to date');
}

const badge = (page: Page) => page.getByTestId('sync-badge');
const note = (page: Page, title: string) =>
  page.getByTestId('sync-notes').getByRole('listitem').filter({ hasText: title });
const writes = (page: Page) => page.getByTestId('writes').getByRole('listitem');
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const titles = (page: Page) =>
  page
    .getByTestId('sync-notes')
    .getByRole('listitem')
    .locator('.grow')
    .evaluateAll((nodes) => nodes.map((node) => node.firstChild?.textContent));

async function turnNetwork(page: Page, isOn: boolean): Promise<void> {
  const control = page.getByTestId('network');
  await control.click();
  await expect(control).toHaveAttribute('aria-checked', String(isOn));
  await expect(badge(page)).toContainText(isOn ? 'Up to date' : 'Offline');
}

async function addNote(page: Page, title: string): Promise<void> {
  await page.getByTestId('new-title').fill(title);
  await page.getByTestId('add-note').click();
  await expect(note(page, title)).toBeVisible();
}

test('two people write offline; online again, both copies agree, and refused writes are shown to their author', async ({
  browser,
}) => {
  const ada = await openWindow(browser);
  const ben = await openWindow(browser);
  await logIn(ada.page, 'Ada');
  await logIn(ben.page, 'Ben');
  // Both see shared notes and their own ones.
  await expect(note(ada.page, 'Where the owls nest')).toBeVisible();
  await expect(note(ada.page, 'Swifts over the station')).toBeVisible();
  await expect(note(ada.page, 'A present for Ada')).toHaveCount(0);
  await expect(note(ben.page, 'Where the owls nest')).toHaveCount(0);

  // With network, a note appears at once.
  await addNote(ada.page, 'A kingfisher');
  await expect(note(ben.page, 'A kingfisher')).toBeVisible();
  await expect(writes(ada.page).first()).toContainText('Confirmed');

  await turnNetwork(ada.page, false);
  await turnNetwork(ben.page, false);
  await addNote(ada.page, 'A wren');
  await addNote(ben.page, 'A siskin');
  await press(ada.page, '+1 “Herons at the mill pond”');
  await press(ben.page, '+1 “Herons at the mill pond”');
  await expect(note(ada.page, 'Herons')).toHaveAttribute('data-count', '1');
  // A keyboard user keeps the focus.
  await expect(ada.page.getByRole('button', { name: '+1 “Herons' })).toBeFocused();
  await expect(note(ben.page, 'Herons')).toHaveAttribute('data-count', '1');
  await ben.page.getByTestId('provoke').click();
  await expect(note(ben.page, 'Where the owls nest')).toBeVisible();
  await expect(writes(ben.page)).toHaveCount(3);
  await expect(writes(ben.page).first()).toContainText('Waiting');
  await expect(note(ada.page, 'A siskin')).toHaveCount(0);
  // A reload of the page loses nothing.
  await ben.page.reload();
  await expect(note(ben.page, 'A siskin')).toBeVisible();
  await expect(writes(ben.page)).toHaveCount(3);
  await expect(badge(ben.page)).toContainText('Offline');

  await turnNetwork(ada.page, true);
  await expect(writes(ada.page).first()).toContainText('Confirmed');
  await turnNetwork(ben.page, true);
  await expect(note(ada.page, 'A siskin')).toBeVisible();
  await expect(note(ben.page, 'A wren')).toBeVisible();
  await expect(note(ada.page, 'Herons')).toHaveAttribute('data-count', '2');
  await expect(note(ben.page, 'Herons')).toHaveAttribute('data-count', '2');

  const refused = writes(ben.page).filter({ hasText: 'Refused' });
  await expect(refused).toHaveCount(1);
  await expect(refused).toContainText('New note “Where the owls nest”');
  await expect(refused).toContainText('A note with this title already exists.');
  await expect(note(ben.page, 'Where the owls nest')).toHaveCount(0);
  await expect(writes(ben.page).filter({ hasText: 'Amended' })).toHaveText(/Herons/);

  // A retry is refused again. With another title, the write is accepted.
  const tried = (await refused.getAttribute('data-write')) ?? '';
  await press(ben.page, 'Retry: New note “Where the owls nest”');
  await expect(refused).not.toHaveAttribute('data-write', tried);
  await press(ben.page, 'Edit: New note “Where the owls nest”');
  await ben.page.getByTestId('resolve-title').fill('Where the owls hunt');
  await ben.page.getByTestId('resolve-title').press('Enter');
  await expect(refused).toHaveCount(0);
  await expect(note(ben.page, 'Where the owls hunt')).toBeVisible();
  await expect(writes(ben.page).first()).toContainText('Confirmed');
  await ben.page.getByTestId('provoke').click();
  await expect(refused).toHaveCount(1);
  await press(ben.page, 'Discard: New note “Where the owls nest”');
  await expect(refused).toHaveCount(0);

  // A note that is no longer shared disappears from the other window.
  await press(ada.page, 'Hide “A kingfisher”');
  await expect(note(ben.page, 'A kingfisher')).toHaveCount(0);
  const shared = ['A siskin', 'A wren', 'Herons at the mill pond', 'Swifts over the station'];
  await expect
    .poll(() => titles(ada.page))
    .toEqual(['A kingfisher', ...shared, 'Where the owls nest']);
  await expect
    .poll(() => titles(ben.page))
    .toEqual(['A present for Ada', ...shared, 'Where the owls hunt']);
  await ada.context.close();
  await ben.context.close();
});

test('logging out locks the copy; the password unlocks it, also without a network', async ({
  browser,
}) => {
  const { context, page } = await openWindow(browser);
  await logIn(page, 'Ada');
  // A user who visits another page of the app and comes back does not have to log in again.
  for (const name of ['Cities', 'Sync'])
    await page.getByRole('link', { name, exact: true }).click();
  await expect(page.getByTestId('sync-person')).toHaveText('Ada’s copy');
  await turnNetwork(page, false);
  await page.getByTestId('sync-log-out').click();
  await expect(page.getByTestId('sync-log-in')).toBeVisible();
  await page.reload();
  await expect(page.getByTestId('sync-log-in')).toBeVisible();
  await page.getByTestId('sync-password').fill('not the password');
  await page.getByTestId('sync-log-in').click();
  await expect(page.getByTestId('sync-problem')).toHaveText('This password is wrong.');
  await page.getByTestId('sync-password').fill('heron at dawn');
  await page.getByTestId('sync-log-in').click();
  await expect(note(page, 'Where the owls nest')).toBeVisible();
  await turnNetwork(page, true);
  await page.getByTestId('sync-forget').click();
  await expect(page.getByTestId('sync-log-in')).toBeVisible();
  await context.close();
});

test('a link opens the other person’s window in the same browser; both work offline and after a reload', async ({
  browser,
}) => {
  const { context, page: ada } = await openWindow(browser);
  await logIn(ada, 'Ada');
  await ada.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  const opening = context.waitForEvent('page');
  await ada.getByTestId('other-window').click();
  const ben = await opening;
  await expect(ben.getByRole('radio', { name: 'Ben' })).toBeChecked();
  await logIn(ben, 'Ben');
  // The same person twice: two windows of one copy.
  const again = await context.newPage();
  await again.goto('./#/sync/1');
  await expect(again.getByTestId('sync-person')).toHaveText('Ada’s copy');
  await addNote(ada, 'A dipper');
  await expect(note(ben, 'A dipper')).toBeVisible();
  await expect(note(again, 'A dipper')).toBeVisible();

  await context.setOffline(true);
  await expect(badge(ben)).toContainText('Offline');
  await expect(ben.getByTestId('network')).toBeDisabled();
  await addNote(ben, 'A crane');
  await press(ada, '+1 “A dipper”');
  await expect(note(again, 'A dipper')).toHaveAttribute('data-count', '1');
  await ben.reload();
  await expect(note(ben, 'A crane')).toBeVisible();
  await expect(writes(ben).first()).toContainText('Waiting');
  await context.setOffline(false);
  await expect(note(ada, 'A crane')).toBeVisible();
  await expect(note(again, 'A crane')).toBeVisible();
  await expect(note(ben, 'A dipper')).toHaveAttribute('data-count', '1');
  await expect(badge(ben)).toContainText('Up to date');
  await expect(badge(again)).toContainText('Up to date');
  await context.close();
});

/** A picture of one color. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGNgYPiPBw0qaQYGAFbiY536PT0nAAAAAElFTkSuQmCC',
  'base64',
);

test('a photo taken offline reaches the other person when the network is back', async ({
  browser,
}) => {
  const ada = await openWindow(browser);
  const ben = await openWindow(browser);
  await logIn(ada.page, 'Ada');
  await logIn(ben.page, 'Ben');
  await addNote(ada.page, 'A grebe');
  await turnNetwork(ada.page, false);
  const choosing = ada.page.waitForEvent('filechooser');
  await press(ada.page, 'Photo “A grebe”');
  await (await choosing).setFiles({ name: 'grebe.png', mimeType: 'image/png', buffer: picture });
  const photo = (page: Page) => page.getByRole('img', { name: 'Photo of “A grebe”' });
  const isLoaded = (page: Page) =>
    photo(page).evaluate((image) => (image as HTMLImageElement).naturalWidth > 0);
  await expect(photo(ada.page)).toBeVisible();
  await expect.poll(() => isLoaded(ada.page)).toBe(true);
  await expect(ada.page.getByTestId('sync-waits')).toContainText('1 of your photos not sent yet');
  await ada.page.reload();
  await expect(photo(ada.page)).toBeVisible();
  await turnNetwork(ada.page, true);
  await expect(ada.page.getByTestId('sync-waits')).toBeEmpty();
  await expect(photo(ben.page)).toBeVisible();
  await expect.poll(() => isLoaded(ben.page)).toBe(true);
  await ada.context.close();
  await ben.context.close();
});

test('a partial copy says that it is partial, and the hub can be asked', async ({ browser }) => {
  const { context, page } = await openWindow(browser);
  await logIn(page, 'Ada');
  const counted = page.getByTestId('note-count');
  const asked = page.getByTestId('hub-count');
  await expect(counted).toContainText('all that you may see');
  const all = Number.parseInt(await counted.innerText());
  await page.getByTestId('keep-own').check();
  await expect(note(page, 'Swifts over the station')).toHaveCount(0);
  await expect(counted).toContainText('The hub may have more');
  expect(Number.parseInt(await counted.innerText())).toBeLessThan(all);
  await page.getByTestId('ask-hub').click();
  await expect(asked).toHaveText(`The hub counts ${all}.`);
  await turnNetwork(page, false);
  await page.getByTestId('ask-hub').click();
  await expect(asked).toContainText('The hub cannot be reached');
  // The same after a reload.
  await page.reload();
  await expect(counted).toContainText('The hub may have more');
  await turnNetwork(page, true);
  await page.getByTestId('keep-own').uncheck();
  await expect(note(page, 'Swifts over the station')).toBeVisible();
  await expect(counted).toContainText('all that you may see');
  await context.close();
});

test('notes written without an account are adopted into a copy once', async ({ browser }) => {
  const { context, page } = await openWindow(browser);
  await logIn(page, 'Ben');
  const alone = page.getByTestId('alone-notes').getByRole('listitem');
  await expect(page.getByTestId('adopt')).toBeDisabled();
  for (const title of ['A stork', 'An egret']) {
    await page.getByTestId('alone-title').fill(title);
    await page.getByTestId('alone-add').click();
    await expect(alone.filter({ hasText: title })).toBeVisible();
  }
  await page.reload();
  await expect(alone).toHaveCount(2);
  await page.getByTestId('adopt').click();
  await expect(page.getByTestId('adopt-state')).toContainText('The hub has them all');
  await expect(alone).toHaveCount(0);
  for (const title of ['A stork', 'An egret']) {
    await expect(note(page, title)).toBeVisible();
    await expect(writes(page).filter({ hasText: `Bring in “${title}”` })).toContainText(
      'Confirmed',
    );
  }
  await context.close();
});

for (const width of [390, 1280]) {
  test(`the sync page fits ${width} px, and its controls have names`, async ({ browser }) => {
    const { context, page } = await openWindow(browser, width);
    // With a dark color scheme.
    if (width === 1280) await page.emulateMedia({ colorScheme: 'dark' });
    const shots = process.env['BURROW_E2E_SHOTS'];
    const shoot = async (name: string): Promise<void> => {
      if (shots !== undefined)
        await page.screenshot({
          path: `${shots}/sync-${name}-${width}.png`,
          fullPage: name === 'login',
        });
    };
    await expect(page.getByTestId('sync-log-in')).toBeVisible();
    await page.getByText('What to try').click();
    await shoot('login');
    await logIn(page, 'Ben');
    await page.getByTestId('provoke').click();
    await expect(writes(page).first()).toContainText('Refused');
    await turnNetwork(page, false);
    await press(page, '+1 “Swifts over the station”');
    await expect(writes(page).filter({ hasText: 'Waiting' })).toHaveCount(1);
    await expect(page.getByTestId('sync-waits')).toContainText('1 write waits');
    await press(page, 'Show reason and options');
    await expect(writes(page).first()).toBeInViewport();
    await shoot('work');
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
    const wrong = await page
      .getByRole('main')
      .getByRole('button')
      .evaluateAll((nodes) =>
        nodes
          .filter((node) => {
            const { left, right } = node.getBoundingClientRect();
            const name = (node.ariaLabel ?? node.textContent).trim();
            return name === '' || left < 0 || right > innerWidth;
          })
          .map((node) => node.outerHTML),
      );
    expect(wrong).toEqual([]);
    await turnNetwork(page, true);
    await press(page, 'Discard: New note “Where the owls nest”');
    await expect(page.getByTestId('sync-refused')).toBeEmpty();
    await context.close();
  });
}
