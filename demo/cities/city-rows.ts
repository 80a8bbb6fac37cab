import { h, fill } from '../shell/dom.ts';
import { formatNumber } from '../shell/format.ts';
import type { CityDocument } from './city-queries.ts';
import { kindOf } from './kinds.ts';

export interface CityRows {
  readonly node: HTMLElement;
  /** Highlights this prefix in the names of the cities. */
  mark(prefix: string | undefined): void;
  /** Shows the cities. Those that changed since the last call flash, unless this is another page. */
  show(cities: readonly CityDocument[], isOtherPage: boolean): void;
}

/** @param isComplete whether all cities have been imported */
export function cityRows(isComplete: () => boolean): CityRows {
  let prefix: string | undefined;
  let versions = new Map<string, number>();
  const list = h('ol', { class: 'rows cities', 'data-testid': 'cities' });
  const note = h('p', { class: 'hint', 'aria-live': 'polite' });
  const columns = h(
    'p',
    { class: 'columns', 'aria-hidden': 'true' },
    h('span', {}, 'City'),
    'Population',
  );
  return {
    node: h('div', {}, note, columns, list),
    mark: (wanted) => {
      prefix = wanted;
    },
    show: (cities, isOtherPage) => {
      const items = cities.map((city) => {
        const isNew = !isOtherPage && versions.get(city.ref.id) !== city.ts;
        return row(city, { isNew, prefix });
      });
      versions = new Map(cities.map((city) => [city.ref.id, city.ts]));
      fill(list, ...items);
      columns.hidden = items.length === 0;
      fill(note, noteText(cities, prefix, isComplete()));
    },
  };
}

function noteText(
  cities: readonly CityDocument[],
  prefix: string | undefined,
  isComplete: boolean,
): string {
  if (cities.length === 0) {
    if (!isComplete) return 'No cities here yet: not all have been imported.';
    return prefix === undefined ? 'No cities here.' : `There is no city at or after “${prefix}”.`;
  }
  const begins = prefix === undefined || cities.some(({ data }) => data.name.startsWith(prefix));
  return begins ? '' : `No city begins with “${prefix}”. These are the next ones.`;
}

function row(
  { ref, data }: CityDocument,
  { isNew, prefix }: { readonly isNew: boolean; readonly prefix: string | undefined },
): HTMLElement {
  const length = prefix !== undefined && data.name.startsWith(prefix) ? prefix.length : 0;
  return h(
    'li',
    { class: isNew ? 'lit' : undefined, 'data-city': ref.id },
    h(
      'a',
      { href: `#/city/${ref.id}` },
      h(
        'span',
        { class: 'grow' },
        length > 0 && h('mark', {}, data.name.slice(0, length)),
        data.name.slice(length),
        h('small', {}, kindOf(data.featureCode)),
      ),
      h(
        'span',
        { class: 'count', 'aria-label': `${formatNumber(data.population)} inhabitants` },
        formatNumber(data.population),
      ),
    ),
  );
}
