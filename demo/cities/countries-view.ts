import type { ImportState } from '../import/city-import.ts';
import type { App, View } from '../shell/app.ts';
import { fill, h } from '../shell/dom.ts';
import { countryName, formatNumber } from '../shell/format.ts';

/** The start page: all countries, with the number of cities of each. */
export function countriesView(app: App): View {
  const grid = h('ul', { class: 'countries', 'data-testid': 'countries' });
  const none = h('p', { class: 'hint', hidden: true }, 'No country has this name.');
  const lead = h('p', { class: 'lead' });
  const search = h('input', {
    type: 'search',
    placeholder: 'Find a country',
    'aria-label': 'Find a country',
    autocomplete: 'off',
    on: { input: (): void => narrow(grid, none, search.value) },
  });
  let shown: Readonly<Record<string, number>> | undefined;
  const update = (): void => {
    const { state } = app.cities.progress;
    if (!state) return;
    fill(lead, leadText(state));
    // The list of countries arrives with the first batch and does not change afterwards.
    if (shown) return;
    shown = state.countries;
    fill(grid, ...countryItems(shown));
    narrow(grid, none, search.value);
  };
  app.cities.addEventListener('change', update);
  update();
  return {
    title: 'Cities of the world',
    node: h('div', { class: 'view' }, h('h1', {}, 'Cities of the world'), lead, search, grid, none),
    stop: () => app.cities.removeEventListener('change', update),
  };
}

const leadText = ({ done, total }: ImportState): string =>
  done < total
    ? `${formatNumber(done)} of ${formatNumber(total)} cities are in a database in this browser.`
    : `${formatNumber(total)} cities in a database in this browser. They work offline.`;

function countryItems(countries: Readonly<Record<string, number>>): HTMLElement[] {
  return Object.entries(countries)
    .map(([code, count]) => ({ code, count, name: countryName(code) }))
    .sort((one, other) => one.name.localeCompare(other.name))
    .map(({ code, count, name }) =>
      h(
        'li',
        { 'data-search': folded(`${name} ${code}`) },
        h(
          'a',
          { href: `#/country/${code}` },
          h('span', { class: 'code', 'aria-hidden': 'true' }, code),
          h('span', { class: 'grow' }, name),
          h('span', { class: 'count' }, formatNumber(count)),
        ),
      ),
    );
}

/** Folds case, accents and apostrophes, so that the search for `cote d'ivoire` finds `Côte d’Ivoire`. */
const folded = (text: string): string =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('’', "'").toLowerCase();

function narrow(grid: HTMLElement, none: HTMLElement, text: string): void {
  const wanted = folded(text.trim());
  let found = 0;
  for (const item of grid.querySelectorAll('li')) {
    item.hidden = !(item.dataset['search'] ?? '').includes(wanted);
    if (!item.hidden) found++;
  }
  none.hidden = found > 0 || grid.children.length === 0;
}
