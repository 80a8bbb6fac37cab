/** The roles page of the demo: three people, the same notes, and what each person may do. */
import { expect, test, type Page } from '@playwright/test';

async function openRoles(page: Page): Promise<void> {
  await page.goto('./#/roles');
  await expect(page.getByTestId('seen-admin')).toHaveText('Sees 4 notes.');
}

const notesOf = (page: Page, role: string) =>
  page
    .getByTestId(`notes-${role}`)
    .getByRole('listitem')
    .evaluateAll((items) => items.map((item) => item.dataset['note']));

const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

test('three people see the same screen, each with what their role allows', async ({ page }) => {
  await openRoles(page);
  await expect.poll(() => notesOf(page, 'admin')).toEqual(['1', '2', '3', '4']);
  await expect.poll(() => notesOf(page, 'editor')).toEqual(['1', '2', '4']);
  await expect.poll(() => notesOf(page, 'reader')).toEqual(['1', '4']);

  // An editor may change an own note, and the others see the change at once.
  await press(page, 'Publish “Two kingfishers, perhaps three. To be checked.” as Ed');
  await expect(page.getByTestId('outcome-editor')).toHaveText('Publish: done.');
  await expect.poll(() => notesOf(page, 'reader')).toEqual(['1', '2', '4']);

  // An editor may not change Ada's note, although the editor can read it.
  await press(page, 'Hide “The swifts are back, ten days early.” as Ed');
  const editor = page.getByTestId('outcome-editor');
  await expect(editor).toContainText(
    'With the role “notes_editor”, you may not change documents of “notes”',
  );
  await expect(editor).toContainText('permission denied, action write');
  await expect.poll(() => notesOf(page, 'reader')).toEqual(['1', '2', '4']);

  const reader = page.getByTestId('outcome-reader');
  await press(page, 'Write a note as Rita');
  await expect(reader).toContainText(
    'With the role “notes_reader”, you may not create documents of “notes”.',
  );
  // The error does not reveal whether a document exists that the reader may not read.
  await press(page, 'Open note 3 as Rita');
  await expect(reader).toContainText('The error does not reveal whether it exists.');
  await press(page, 'Open note 3 as Ada');
  await expect(page.getByTestId('outcome-admin')).toHaveText('Open note 3: done.');

  await press(page, 'Write a note as Ed');
  await expect(page.getByTestId('seen-editor')).toHaveText('Sees 4 notes.');
  await expect(page.getByTestId('seen-admin')).toHaveText('Sees 5 notes.');
  await page.getByTestId('start-again').click();
  await expect.poll(() => notesOf(page, 'reader')).toEqual(['1', '4']);

  const text = page.getByTestId('text-notes_editor');
  await text.locator('summary').click();
  await expect(text).toContainText('CurrentIdentity()');
});

test('the query panel runs as each person and says why a query is refused', async ({ page }) => {
  await openRoles(page);
  await page.getByRole('link', { name: 'Run queries as one of them' }).click();
  const ask = async (who: string, query: string): Promise<void> => {
    await page.getByTestId('actor').selectOption({ label: who });
    await page.getByTestId('query').fill(query);
    await page.getByTestId('run').click();
  };
  await ask('Rita, reader', 'Count(Documents(Collection("notes")))');
  await expect(page.getByTestId('result')).toHaveText('2');
  await ask('Ada, admin', 'Count(Documents(Collection("notes")))');
  await expect(page.getByTestId('result')).toHaveText('4');
  await ask('Rita, reader', 'Delete(Ref(Collection("notes"), "1"))');
  await expect(page.getByTestId('query-problem')).toContainText('permission denied');
  await expect(page.getByTestId('denial')).toHaveText(
    'With the role “notes_reader”, you may not delete documents of “notes”, or not this one. The error does not reveal whether it exists. Action: delete.',
  );
  await ask('client key', 'CreateCollection({ name: "mine" })');
  await expect(page.getByTestId('denial')).toContainText(
    'With a client key, you may not create collections.',
  );
});

for (const [width, height] of [
  [390, 844],
  [1280, 900],
] as const) {
  test(`the roles page fits ${width} px, and its controls have names`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await openRoles(page);
    await press(page, 'Write a note as Rita');
    await expect(page.getByTestId('outcome-reader')).toContainText('refused');
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
    const buttons = page.getByRole('main').getByRole('button');
    for (const each of await buttons.all()) {
      expect(await each.evaluate((node) => (node.ariaLabel ?? node.textContent).trim())).not.toBe(
        '',
      );
      const box = await each.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= width).toBe(true);
    }
    const shots = process.env['BURROW_E2E_SHOTS'];
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/roles-${width}.png`, fullPage: true });
  });
}
