/** One city: what is known of it, a form to change it, and its history. Live, as every view here. */
import { q, QueryError } from '../../src/index.ts';
import type { App, View } from '../shell/app.ts';
import { fill, h, type Child } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { countryName, formatNumber } from '../shell/format.ts';
import type { Route } from '../shell/router.ts';
import { cityForm } from './city-form.ts';
import { cityRef, type CityDocument } from './city-queries.ts';
import { historyList } from './history-list.ts';
import { kindOf } from './kinds.ts';

export function cityView(app: App, { id }: Route): View {
  const head = h('header', { class: 'heading' });
  const facts = h('dl', { class: 'facts', 'data-testid': 'facts' });
  const editor = h('section', { 'aria-label': 'Edit' });
  const history = historyList(app, id);
  const problem = h('p', { class: 'problem', role: 'alert' });
  let seen: CityDocument | undefined;
  let isEditing = false;

  const drawEditor = (): void => {
    fill(editor, ...editorParts());
  };
  const edit = (editing: boolean): void => {
    isEditing = editing;
    drawEditor();
    // The form that had the focus is gone.
    if (!editing) editor.querySelector('button')?.focus();
  };
  const editorParts = (): Child[] => {
    if (!seen) return [];
    if (!app.accounts.current) {
      return [
        h(
          'p',
          { class: 'hint' },
          h('a', { href: '#/account' }, 'Log in'),
          ' to edit this city. Anyone may read it.',
        ),
      ];
    }
    if (isEditing) return [cityForm(app, () => seen, edit)];
    return [
      h(
        'button',
        { type: 'button', 'data-testid': 'edit', on: { click: () => edit(true) } },
        'Edit this city',
      ),
    ];
  };
  const receive = (city: CityDocument): void => {
    const isNew = seen !== undefined && seen.ts !== city.ts;
    const isFirst = seen === undefined;
    seen = city;
    fill(problem);
    fill(head, ...headParts(city));
    fill(facts, ...factParts(city));
    if (isNew) light(facts);
    // A form that is being filled in keeps what the user has typed.
    if (isFirst) drawEditor();
  };
  const stopCity = app.visitor.subscribe(q.Get<CityDocument['data']>(cityRef(id)), {
    next: (city) => receive(city),
    error: (error) => {
      const isMissing = error instanceof QueryError && error.status === 404;
      fill(
        problem,
        isMissing ? 'This city does not exist, or has not been imported yet.' : explain(error),
      );
    },
  });
  app.accounts.addEventListener('change', drawEditor);
  return {
    title: 'City',
    node: h(
      'div',
      { class: 'view city' },
      h('div', { class: 'view' }, head, problem, facts, editor),
      history.node,
    ),
    stop: () => {
      stopCity();
      history.stop();
      app.accounts.removeEventListener('change', drawEditor);
    },
  };
}

function headParts({ data }: CityDocument): Child[] {
  const { country, name, altName } = data;
  return [
    h('a', { class: 'back', href: `#/country/${country}` }, countryName(country)),
    h('h1', { 'data-testid': 'city-name' }, name),
    altName !== '' && h('p', { class: 'lead' }, `also ${altName}`),
  ];
}

function factParts({ ref, data }: CityDocument): Child[] {
  const [longitude, latitude] = data.loc.coordinates;
  const fact = (label: string, value: string, testId?: string): Child =>
    h('div', {}, h('dt', {}, label), h('dd', { 'data-testid': testId }, value));
  return [
    fact('Population', formatNumber(data.population), 'population'),
    fact('Country', `${countryName(data.country)} (${data.country})`),
    fact('Kind', kindOf(data.featureCode)),
    fact('Division', data.adminCode === '' ? 'none' : data.adminCode),
    fact('Place', `${degrees(latitude, 'N', 'S')}, ${degrees(longitude, 'E', 'W')}`),
    fact('Id', ref.id),
  ];
}

const degrees = (value: number, positive: string, negative: string): string =>
  `${Math.abs(value).toFixed(2)}° ${value < 0 ? negative : positive}`;

/** Lights up what has just changed. */
function light(element: HTMLElement): void {
  element.classList.remove('lit');
  // Reading its size makes the browser see that the class was gone, so that the animation starts anew.
  void element.offsetWidth;
  element.classList.add('lit');
}
