import { afterEach, expect, test } from 'vitest';
import type { App } from '../shell/app.ts';
import { cityView } from './city-view.ts';

const city = {
  ref: { id: '1' },
  ts: 1,
  data: {
    cityId: 1,
    name: 'Heronsgate',
    altName: '',
    country: 'GB',
    featureCode: 'PPL',
    adminCode: '',
    population: 1000,
    loc: { type: 'Point', coordinates: [0, 51] },
  },
};

const app = {
  accounts: Object.assign(new EventTarget(), { current: { email: 'ada@example.org' } }),
  visitor: {
    subscribe: (_: unknown, { next }: { readonly next: (value: unknown) => void }) => {
      next(city);
      return () => undefined;
    },
  },
  server: { subscribe: () => () => undefined },
} as unknown as App;

afterEach(() => document.body.replaceChildren());

test('the focus returns to the Edit button when the form is closed', async () => {
  const { node } = cityView(app, { name: 'city', id: '1', options: new URLSearchParams() });
  document.body.append(node);
  node.querySelector<HTMLElement>('[data-testid=edit]')?.click();
  await expect.poll(() => document.activeElement?.getAttribute('data-testid')).toBe('edit-name');
  node.querySelector<HTMLElement>('form button[type=button]')?.click();
  expect(document.activeElement?.getAttribute('data-testid')).toBe('edit');
});
