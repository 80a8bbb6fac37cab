/** The inspector as a new user uses it: by keyboard, under a strict Content-Security-Policy, with a screen reader, on a phone. */
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Locator, type Page } from '@playwright/test';
import { appUrl } from './support/browser-profile.ts';
import { call, notes, note, PASSWORD, type SyncHub } from './support/sync-hub.ts';
import { openSynced, submitNote } from './support/sync-page.ts';
import { ALICE, loginOf, test } from './support/sync-test.ts';

/** Allows nothing from other origins, no inline styles or scripts, no HTML from strings. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "worker-src 'self'",
  'connect-src *',
  'img-src data:',
  "require-trusted-types-for 'script'",
  'trusted-types burrow',
].join('; ');

/** Violations of the policy. */
const forbidden: string[] = [];

test.beforeEach(async ({ page }) => {
  forbidden.length = 0;
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) forbidden.push(message.text());
  });
  await page.route(appUrl(), async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), 'content-security-policy': POLICY };
    await route.fulfill({ response, headers });
  });
  await page.goto(appUrl());
  await page.waitForFunction(() => 'burrow' in globalThis);
});

test.afterEach(() => expect(forbidden).toEqual([]));

const MANY = 600;

/** Creates many notes at the hub, and on the device one refused write and one that is not synced. */
async function leaveTrouble(page: Page, hub: SyncHub): Promise<void> {
  const many = Array.from({ length: MANY }, (_, at) =>
    call('Create', notes(), { data: { text: `note ${at}`, tag: at === 7 ? 'heron' : 'other' } }),
  );
  await hub.admin.query(call('Do', ...many));
  await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) });
  await page.evaluate(() => sync.whenSynced());
  await page.evaluate(() => sync.stop());
  // Somebody else takes the slug first.
  await hub.admin.query(call('Create', note('77'), { data: { text: 'theirs', slug: 'taken' } }));
  await submitNote(page, 'mine', { slug: 'taken' });
  await page.evaluate(() => sync.setSets([burrow.q.Documents(burrow.q.Collection('notes'))]));
  await page.evaluate(() => sync.whenSettled());
  await page.evaluate(() => sync.stop());
  await submitNote(page, 'a later note');
}

/** Opens the inspector as an app would. */
const openInspector = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const { mountInspector } = await loadInspector();
    mountInspector(db, 'sync' in globalThis ? { client: sync.client } : {});
  });

const inspector = (page: Page): Locator => page.locator('burrow-inspector');
const tab = (page: Page, name: string): Locator => inspector(page).getByRole('tab', { name });
const panel = (page: Page, name: string): Locator =>
  inspector(page).getByRole('tabpanel', { name });

/** Goes to a tab of the inspector with keys only. */
async function goTo(page: Page, name: string): Promise<void> {
  await inspector(page).evaluate((element: HTMLElement) => element.focus());
  await page.keyboard.press('Home');
  for (let steps = 0; steps < 6; steps += 1) {
    if ((await tab(page, name).getAttribute('aria-selected')) === 'true') break;
    await page.keyboard.press('ArrowRight');
  }
  await expect(tab(page, name)).toBeFocused();
}

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let steps = 0; steps < 60; steps += 1) {
    if (await target.evaluate((element) => element.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`No Tab leads to ${String(target)}.`);
}

const countHerons = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { q } = burrow;
    const notes = q.Documents(q.Collection('notes'));
    return sync.client.query<number>(
      q.Count(
        q.Filter(notes, (ref) => q.Equals(q.Select(['data', 'tag'], q.Get(ref), ''), 'heron')),
      ),
    );
  });

test('by keyboard alone, the inspector shows unsynced writes, why one was refused, and which index would help', async ({
  page,
  hub,
}) => {
  await leaveTrouble(page, hub);
  await openInspector(page);
  await expect(tab(page, 'Data')).toBeFocused();

  await goTo(page, 'Sync');
  const sync = panel(page, 'Sync');
  await expect(sync).toContainText('Not synced yet');
  await expect(sync.getByText('1 write,')).toBeVisible();
  const refused = sync.locator('details[data-state=refused] summary');
  await tabTo(page, refused);
  await page.keyboard.press('Enter');
  await expect(sync.locator('[data-part=reason]')).toContainText('instance not unique');
  const waiting = sync.locator('details[data-state=local]');
  await expect(waiting).toContainText('a later note');

  // The edited write, with another slug, replaces the refused one.
  await tabTo(page, sync.getByRole('button', { name: 'Edit' }));
  await page.keyboard.press('Enter');
  const area = sync.getByLabel('Another query in its place');
  await expect(area).toBeFocused();
  await expect(area).toHaveValue(/"taken"/);
  const edited = (await area.inputValue()).replace('"taken"', '"free"');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(edited);
  await tabTo(page, sync.getByRole('button', { name: 'Send it' }));
  await page.keyboard.press('Enter');
  await expect(refused).toHaveCount(0);
  await expect(sync.getByText('2 writes,')).toBeVisible();

  await goTo(page, 'Queries');
  const queries = panel(page, 'Queries');
  expect(await countHerons(page)).toBe(1);
  const slow = queries.locator('summary', { hasText: 'slow' });
  await tabTo(page, slow.first());
  await page.keyboard.press('Enter');
  const advice = queries.locator('[data-part=advice]');
  await expect(advice).toContainText('for those with one “data.tag”');
  await expect(advice).toContainText('CreateIndex({ name: "notes_by_tag"');
  await expect(queries).toContainText(/collection notes: 60\d documents/);
  await tabTo(page, advice.getByRole('button', { name: 'Put it into the shell' }));
  await page.keyboard.press('Enter');
  const shell = panel(page, 'Shell');
  await expect(shell.getByLabel('Query', { exact: true })).toBeFocused();
  await expect(shell.getByLabel('Query', { exact: true })).toHaveValue(/^CreateIndex/);

  await page.keyboard.press('Escape');
  await expect(inspector(page)).toHaveCount(0);
});

test("the inspector's shell completes names, runs queries and keeps them", async ({ page }) => {
  await page.evaluate(async () => {
    const { q } = burrow;
    globalThis.db = await burrow.openDatabase('shell');
    const admin = db.client();
    await admin.query(q.CreateCollection({ name: 'birds' }));
    await admin.query(q.Create(q.Ref(q.Collection('birds'), '1'), { data: { name: 'heron' } }));
  });
  await openInspector(page);
  await goTo(page, 'Data');
  const data = panel(page, 'Data');
  await tabTo(page, data.getByRole('button', { name: 'birds' }));
  await page.keyboard.press('Enter');
  await tabTo(page, data.getByRole('button', { name: '1', exact: true }));
  await page.keyboard.press('Enter');
  await expect(data).toContainText('Document 1');
  await expect(data.getByRole('region', { name: 'History' })).toContainText('create');

  await goTo(page, 'Shell');
  const shell = panel(page, 'Shell');
  const area = shell.getByLabel('Query', { exact: true });
  await tabTo(page, area);
  await page.keyboard.type('Get(Re');
  await expect(shell.getByRole('option', { name: 'Ref' })).toBeVisible();
  const chosen = shell.getByRole('listbox').getByRole('option', { selected: true });
  while ((await chosen.textContent()) !== 'Ref') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Collection("bi');
  await page.keyboard.press('Tab');
  await page.keyboard.type('), "1"))');
  await expect(area).toHaveValue('Get(Ref(Collection("birds"), "1"))');
  await page.keyboard.press('Control+Enter');
  await expect(shell.locator('[data-part=result]')).toContainText('name: "heron"');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('Get(1)');
  await page.keyboard.press('Control+Enter');
  await expect(shell.locator('[data-part=problem]')).toContainText('invalid argument');
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Alt+ArrowUp');
  await expect(area).toHaveValue('Get(Ref(Collection("birds"), "1"))');
});

test('the inspector shows no secret of logins, keys, tokens or the page', async ({ page, hub }) => {
  await leaveTrouble(page, hub);
  const secrets = await page.evaluate(async (password) => {
    const { q } = burrow;
    const local = await burrow.openDatabase('secrets', { log: { enabled: true } });
    const admin = local.client();
    await admin.query(q.CreateCollection({ name: 'users' }));
    const user = q.Ref(q.Collection('users'), '1');
    await admin.query(q.Create(user, { credentials: { password }, data: { password } }));
    const { secret: key } = await admin.query(q.CreateKey({ role: 'server' }));
    const { secret: token } = await local.client({ secret: key }).Login(user, { password });
    local.client({ secret: token }).subscribe(q.Get(user), { next: () => undefined });
    await new Promise<void>((resolve) => {
      admin.subscribe(q.KeyFromSecret(key), { next: () => resolve() });
    });
    globalThis.db = local;
    const { mountInspector } = await loadInspector();
    mountInspector(local);
    return [password, local.rootSecret, key, token];
  }, PASSWORD);
  await goTo(page, 'Shell');
  const shell = panel(page, 'Shell');
  const answers = shell.locator('[data-part=result]');
  for (const text of [
    'CreateKey({ role: "admin" })',
    `Login(Ref(Collection("users"), "1"), { password: "${PASSWORD}" })`,
    'Map(Paginate(Keys()), ref => Get(ref))',
    'Map(Paginate(Documents(Tokens())), ref => Get(ref))',
    'Map(Paginate(Documents(Credentials())), ref => Get(ref))',
  ]) {
    await tabTo(page, shell.getByLabel('Query', { exact: true }));
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(text);
    await page.keyboard.press('Control+Enter');
    await expect(answers.or(shell.locator('[data-part=problem]'))).toBeVisible();
  }
  for (const name of ['Data', 'Shell', 'Queries', 'Live', 'Sync', 'Storage']) {
    await goTo(page, name);
    if (name === 'Data') {
      await panel(page, name).getByRole('button', { name: 'users' }).press('Enter');
      await panel(page, name).getByRole('button', { name: '1', exact: true }).press('Enter');
      await expect(panel(page, name)).toContainText('Document 1');
    }
    if (name === 'Queries')
      for (const summary of await panel(page, name).locator('summary').all())
        await summary.press('Enter');
    if (name === 'Live') await expect(panel(page, name)).toContainText('Get(Ref');
    const shown = await inspector(page).evaluate((element) => element.shadowRoot?.innerHTML ?? '');
    expect(shown.length).toBeGreaterThan(1000);
    for (const secret of secrets)
      expect(shown.includes(secret), `${name} shows a secret`).toBe(false);
    expect(shown).not.toMatch(/\$2[abxy]?\$\d\d\$|fn[A-F][\w-]{20,}|burrow-(root|sync)-\w/);
  }
});

const LOOKS = [
  { name: 'in light colors', scheme: 'light', width: 1180, height: 720 },
  { name: 'in dark colors', scheme: 'dark', width: 1180, height: 720 },
  { name: 'on a telephone', scheme: 'light', width: 360, height: 740 },
] as const;

for (const { name, scheme, width, height } of LOOKS)
  test(`axe finds no violation in the inspector ${name}`, async ({ page, hub }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height });
    await leaveTrouble(page, hub);
    await openInspector(page);
    await countHerons(page);
    for (const view of ['Data', 'Shell', 'Queries', 'Live', 'Sync', 'Storage']) {
      await goTo(page, view);
      const shown = panel(page, view);
      if (view === 'Data') {
        await shown.getByRole('button', { name: 'notes', exact: true }).press('Enter');
        await shown.getByRole('button', { name: /^\d+$/ }).first().press('Enter');
        await expect(shown).toContainText('History');
      }
      if (view === 'Shell') {
        await shown
          .getByLabel('Query', { exact: true })
          .fill('Count(Documents(Collection("notes")))');
        await page.keyboard.press('Control+Enter');
        await expect(shown.locator('[data-part=result]')).toBeVisible();
      }
      if (view === 'Queries') {
        await shown.locator('summary', { hasText: 'slow' }).first().press('Enter');
        await expect(shown.locator('[data-part=advice]')).toBeVisible();
        const path = process.env['BURROW_PICTURE'];
        if (path !== undefined && name === 'in light colors')
          await inspector(page).screenshot({ path, animations: 'disabled' });
      }
      if (view === 'Sync') {
        await shown.locator('summary', { hasText: 'refused' }).press('Enter');
        await expect(shown.locator('[data-part=reason]')).toBeVisible();
      }
      const { violations } = await new AxeBuilder({ page }).include('burrow-inspector').analyze();
      expect(violations.map(({ id, nodes }) => [view, id, nodes.map(({ html }) => html)])).toEqual(
        [],
      );
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow, `${view} is wider than the window`).toBeLessThanOrEqual(0);
    }
  });

test('the inspector does no work before it is opened and after it is closed', async ({ page }) => {
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
  await page.reload();
  await page.waitForFunction(() => 'burrow' in globalThis);
  /** Whether the inspector's element is defined before an app has opened the inspector. */
  const asked = await page.evaluate(async () => {
    globalThis.db = await burrow.openDatabase('idle');
    await db.client().query(burrow.q.Add(1, 2));
    return customElements.get('burrow-inspector') !== undefined;
  });
  expect(asked).toBe(false);
  expect(loaded.filter((path) => path.includes('inspector'))).toEqual([]);
  await openInspector(page);
  await expect(tab(page, 'Data')).toBeFocused();
  expect(loaded.filter((path) => path.includes('inspector'))).toHaveLength(1);
  const calls = await page.evaluate(async () => {
    document.querySelector('burrow-inspector')?.remove();
    let calls = 0;
    const { fetch } = db;
    Object.defineProperty(db, 'fetch', {
      value: (...call: Parameters<typeof fetch>) => {
        calls += 1;
        return fetch(...call);
      },
    });
    // Longer than the interval at which the inspector reads data.
    for (let frames = 0; frames < 90; frames += 1)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return calls;
  });
  expect(calls).toBe(0);
});

test('a <burrow-inspector> element created before the module is loaded shows its database and whether it is locked', async ({
  page,
}) => {
  await page.evaluate(async () => {
    globalThis.db = await burrow.openDatabase('early');
    const element = Object.assign(document.createElement('burrow-inspector'), { database: db });
    document.body.append(element);
    await loadInspector();
  });
  await tab(page, 'Storage').press('Enter');
  await expect(panel(page, 'Storage')).toContainText('open: db.signOut() locks it');
  await page.evaluate(() => db.signOut());
  await expect(inspector(page).getByRole('alert')).toContainText('The database is locked');
  await tab(page, 'Data').press('Enter');
  await tab(page, 'Storage').press('Enter');
  await expect(panel(page, 'Storage')).toContainText('locked: its user has signed out');
});
