import { afterEach, expect, test } from 'vitest';
import type { App, View } from './app.ts';
import { startRouter, type Route } from './router.ts';

afterEach(() => history.replaceState(null, '', '#'));

test('an address that names no view shows the cities, also `constructor` and `toString`', () => {
  for (const name of ['constructor', 'toString', 'nowhere', '']) {
    history.replaceState(null, '', `#/${name}`);
    const shown: [View, Route][] = [];
    const cities: View = { title: 'Cities', node: document.createElement('p') };
    startRouter({} as App, { cities: () => cities }, (view, route) => shown.push([view, route]));
    expect(
      shown.map(([view, route]) => [view.title, route.name]),
      name,
    ).toEqual([['Cities', 'cities']]);
  }
});
