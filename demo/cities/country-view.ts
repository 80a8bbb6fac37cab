/** The cities of a country, page by page. The visible page is a live query: a change in another tab appears at once. */
import type { Arg, Page } from '../../src/index.ts';
import type { App, View } from '../shell/app.ts';
import { button, fill, h, lead } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { countryName, formatNumber } from '../shell/format.ts';
import type { Route } from '../shell/router.ts';
import { cityRows } from './city-rows.ts';
import {
  FIRST_PAGE,
  LAST_PAGE,
  pageOfCities,
  startingAt,
  type CityDocument,
  type Order,
  type Place,
} from './city-queries.ts';

/** The last visited page of each list. It is kept while the app runs, so that going back from a city returns to the same page. */
const places = new Map<string, Place>();

export function countryView(app: App, { id: country, options }: Route): View {
  const order: Order = options.get('order') === 'population' ? 'population' : 'name';
  const key = `${country} ${order}`;
  const rows = cityRows(() => app.cities.progress.phase === 'complete');
  const pager = makePager(order, (place) => go(place));
  const problem = h('p', { class: 'problem', role: 'alert' });
  let stop: (() => void) | undefined;

  const receive = (page: Page<CityDocument>, isFirst: boolean): void => {
    fill(problem);
    rows.show(page.data, isFirst);
    pager.show(page, places.get(key) === LAST_PAGE[order]);
  };
  const go = (place: Place): void => {
    stop?.();
    places.set(key, place);
    pager.wait();
    let isFirst = true;
    stop = app.visitor.subscribe(pageOfCities(country, order, place), {
      next: (page) => {
        receive(page, isFirst);
        isFirst = false;
      },
      error: (error) => fill(problem, explain(error)),
    });
  };

  const jump = jumpField(order, (value) => {
    rows.mark(typeof value === 'string' ? value : undefined);
    go(value === undefined ? FIRST_PAGE : startingAt(value));
  });
  go(places.get(key) ?? FIRST_PAGE);
  const node = h(
    'div',
    { class: 'view' },
    heading(app, country),
    h('div', { class: 'tools' }, orderLinks(country, order), jump),
    problem,
    rows.node,
    pager.node,
  );
  return { title: countryName(country), node, stop: () => stop?.() };
}

function heading(app: App, country: string): HTMLElement {
  const count = app.cities.progress.state?.countries[country];
  return h(
    'header',
    { class: 'heading' },
    h('a', { class: 'back', href: '#/' }, 'All countries'),
    h('h1', {}, countryName(country)),
    count !== undefined && lead(`${formatNumber(count)} cities`),
  );
}

function orderLinks(country: string, order: Order): HTMLElement {
  const link = (value: Order, label: string) =>
    h(
      'a',
      {
        href: `#/country/${country}?order=${value}`,
        'aria-current': value === order ? 'true' : undefined,
        'data-testid': `order-${value}`,
      },
      label,
    );
  return h(
    'nav',
    { class: 'switch', 'aria-label': 'Order' },
    link('name', 'By name'),
    link('population', 'By population'),
  );
}

/** Goes to the page that starts at the typed text or number: the database accepts the beginning of an entry as a cursor. */
function jumpField(
  order: Order,
  onChange: (value: string | number | undefined) => void,
): HTMLElement {
  const isName = order === 'name';
  const label = isName ? 'Go to names from' : 'Go to populations up to';
  const input = h('input', {
    type: isName ? 'search' : 'number',
    min: isName ? undefined : 0,
    placeholder: label,
    'aria-label': label,
    autocomplete: 'off',
    'data-testid': 'jump',
    on: {
      input: () => {
        const text = input.value.trim();
        if (text === '') onChange(undefined);
        else onChange(isName ? capitalized(text) : Number(text));
      },
    },
  });
  return input;
}

/** Capitalizes text that was typed in lower case only: the order of an index is case-sensitive, and names are capitalized. */
const capitalized = (text: string): string =>
  text === text.toLocaleLowerCase()
    ? text.replaceAll(/(?<![\p{L}\p{M}'’])\p{L}/gu, (letter) => letter.toLocaleUpperCase())
    : text;

function makePager(order: Order, go: (place: Place) => void) {
  let page: Page<CityDocument> | undefined;
  const way = (label: string, testId: string, place: () => Place | undefined) => {
    const follow = (): void => {
      const to = place();
      if (to) go(to);
    };
    return button(label, follow, { class: 'quiet', 'data-testid': testId });
  };
  const first = way('First', 'first', () => FIRST_PAGE);
  const previous = way('Previous', 'previous', () => page && { before: page.before as Arg });
  const next = way('Next', 'next', () => page && { after: page.after as Arg });
  const last = way('Last', 'last', () => LAST_PAGE[order]);
  const node = h('nav', { class: 'pager', 'aria-label': 'Pages' }, first, previous, next, last);
  return {
    node,
    /** Until the next page arrives, the buttons stay enabled: a disabled button would lose the focus. */
    wait: () => node.setAttribute('aria-busy', 'true'),
    /** `isLast` is needed because a page returns the cursor that it was requested with: the last page has an `after` cursor too. */
    show: (shown: Page<CityDocument>, isLast: boolean) => {
      page = shown;
      const hadFocus = node.contains(document.activeElement);
      node.removeAttribute('aria-busy');
      first.disabled = previous.disabled = shown.before === undefined;
      next.disabled = last.disabled = isLast || shown.after === undefined;
      // A focused button that becomes disabled loses the focus, which then moves to the opposite button.
      if (hadFocus && next.disabled) previous.focus();
      else if (hadFocus && previous.disabled) next.focus();
    },
  };
}
