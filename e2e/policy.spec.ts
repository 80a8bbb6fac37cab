import { expect, test } from '@playwright/test';

test('under a policy that requires trusted types the database opens, with the policy `burrow`', async ({
  page,
}) => {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto('');
  await expect(page.getByTestId('import')).toHaveAttribute('data-phase', /running|complete/);
  expect(complaints).toEqual([]);
  const assign = () => {
    document.createElement('p').innerHTML = 'text';
  };
  await expect(page.evaluate(assign), 'the policy is enforced').rejects.toThrow(/TrustedHTML/);
});

test('with trusted types the button of the demo opens the inspector', async ({ page }) => {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto('');
  await page.getByTestId('inspect').click();
  const inspector = page.locator('burrow-inspector');
  await expect(inspector.getByRole('tab', { name: 'Data' })).toBeFocused();
  await expect(inspector.getByRole('button', { name: 'cities', exact: true })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(inspector).toHaveCount(0);
  await expect(page.getByTestId('inspect')).toBeFocused();
  expect(complaints).toEqual([]);
});

test("on a phone the inspector's button covers no content", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('#/query');
  await expect(page.getByTestId('inspect')).toBeVisible();
  const [button, main, bar] = await Promise.all(
    [page.getByTestId('inspect'), page.getByRole('main'), page.getByRole('banner')].map((part) =>
      part.boundingBox(),
    ),
  );
  if (!button || !main || !bar) throw new Error('The frame is not shown.');
  expect(button.y + button.height).toBeLessThanOrEqual(bar.y + bar.height);
  expect(bar.y + bar.height).toBeLessThanOrEqual(main.y);
  expect(button.x + button.width).toBeLessThanOrEqual(390);
});
