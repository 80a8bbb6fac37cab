import { afterEach, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { shellPanel } from './shell.ts';

afterEach(() => document.body.replaceChildren());

test('going through the query history and back keeps the typed text', async () => {
  const shell = shellPanel({
    root: { queryWithMetrics: () => Promise.reject(new Error('no database')) },
  } as unknown as Context);
  document.body.append(shell.node);
  const area = shell.node.querySelector('textarea') as HTMLTextAreaElement;
  const press = (key: string, more: KeyboardEventInit): boolean =>
    area.dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true, ...more }));
  area.value = 'Now()';
  press('Enter', { ctrlKey: true });
  await expect.poll(() => shell.node.querySelector('.problem')?.textContent).toBe('no database');
  area.value = 'Paginate(Docu';
  press('ArrowUp', { altKey: true });
  expect(area.value).toBe('Now()');
  press('ArrowDown', { altKey: true });
  expect(area.value).toBe('Paginate(Docu');
});
