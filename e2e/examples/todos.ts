/** The to-do list that all examples show. */
import { expect, type Locator, type Page } from '@playwright/test';

export const todo = (page: Page, title: string): Locator =>
  page.locator('ul#todos > li', { hasText: title });

export async function add(page: Page, title: string): Promise<void> {
  await page.locator('input[name=title]').fill(title);
  await page.locator('form:has(input[name=title])').getByRole('button').first().click();
  await expect(todo(page, title)).toHaveCount(1);
}
