import { afterEach, expect, test } from 'vitest';
import type { App } from '../shell/app.ts';
import { fqlView } from './fql-view.ts';

afterEach(() => document.body.replaceChildren());

test('choosing an example removes the suggestions for the typed text', () => {
  const { node } = fqlView({ people: [], accounts: { all: [] } } as unknown as App);
  document.body.append(node);
  const area = node.querySelector('textarea');
  const examples = node.querySelector<HTMLSelectElement>('[aria-label=Examples]');
  if (!area || !examples) throw new Error('The view has no text or no examples.');
  area.value = 'Pag';
  area.dispatchEvent(new Event('input'));
  expect(node.querySelector('.query .chips')?.textContent).toBe('Paginate');
  examples.value = '2';
  examples.dispatchEvent(new Event('change'));
  expect(area.value).toContain('cities_by_id');
  expect(node.querySelector('.query .chips')?.textContent).toBe('');
});
