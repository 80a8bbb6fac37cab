import { expect, test } from '@playwright/test';

test('under a policy that requires trusted types the database opens, by the policy `burrow`', async ({
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
