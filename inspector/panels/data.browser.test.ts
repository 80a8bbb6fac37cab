import { afterEach, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { dataPanel } from './data.ts';

afterEach(() => document.body.replaceChildren());

test('the collection that was clicked last is shown, whichever answer arrives last', async () => {
  const answers: ((page: unknown) => void)[] = [];
  const panel = dataPanel({
    schema: () => Promise.resolve({ collections: ['notes', 'users'], indexes: [], functions: [] }),
    root: { query: () => new Promise((resolve) => answers.push(resolve)) },
    say: () => undefined,
  } as unknown as Context);
  const { node } = panel;
  document.body.append(node);
  await panel.show?.();
  for (const name of ['notes', 'users'])
    [...node.querySelectorAll('button')].find((each) => each.textContent === name)?.click();
  for (const answer of answers.toReversed()) {
    answer({ data: [] });
    await Promise.resolve();
  }
  await expect.poll(() => node.querySelector('.contents h3')?.textContent).toContain('users');
  await Promise.resolve();
  expect(node.querySelector('.contents h3')?.textContent).toBe('Documents of “users”');
});
