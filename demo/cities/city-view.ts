/** One city: its data, a form to change it, and its history. Live, like all views of the demo. */
import { q, QueryError } from '../../src/index.ts';
import type { App, View } from '../shell/app.ts';
import { fill, h, hint, lead, type Child } from '../shell/dom.ts';
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
  const problem = h('p', { class: 'problem', role: 'alert' });
  let seen: CityDocument | undefined;
  const editor = cityEditor(app, () => seen);
  const history = historyList(app, id);
  const receive = (city: CityDocument): void => {
    const before = seen;
    seen = city;
    fill(problem);
    fill(head, ...headParts(city));
    fill(facts, ...factParts(city));
    // An open form is not redrawn: it keeps what the user has typed.
    if (!before) editor.draw();
    else if (before.ts !== city.ts) light(facts);
  };
  const stopCity = app.visitor.subscribe(q.Get<CityDocument['data']>(cityRef(id)), {
    next: receive,
    error: (error) => fill(problem, isMissing(error) ? MISSING : explain(error)),
  });
  return {
    title: 'City',
    node: h(
      'div',
      { class: 'view city' },
      h('div', { class: 'view' }, head, problem, facts, editor.node),
      history.node,
    ),
    stop: () => {
      stopCity();
      history.stop();
      editor.stop();
    },
  };
}

const MISSING = 'This city does not exist, or has not been imported yet.';

const isMissing = (error: unknown): boolean => error instanceof QueryError && error.status === 404;

interface Editor {
  readonly node: HTMLElement;
  readonly draw: () => void;
  readonly stop: () => void;
}

/** A form to change the city if somebody is logged in. It is redrawn when accounts change. */
function cityEditor(app: App, latest: () => CityDocument | undefined): Editor {
  const node = h('section', { 'aria-label': 'Edit' });
  let isEditing = false;
  const draw = (): void => {
    if (latest()) fill(node, app.accounts.current ? form() : logInHint());
  };
  const edit = (editing: boolean): void => {
    isEditing = editing;
    draw();
    // The form that had the focus has been removed.
    if (!editing) node.querySelector('button')?.focus();
  };
  const form = (): HTMLElement =>
    isEditing ? cityForm(app, latest, edit) : editButton(() => edit(true));
  app.accounts.addEventListener('change', draw);
  return { node, draw, stop: () => app.accounts.removeEventListener('change', draw) };
}

const logInHint = (): HTMLElement =>
  hint(h('a', { href: '#/account' }, 'Log in'), ' to edit this city. Anyone may read it.');

const editButton = (click: () => void): HTMLElement =>
  h('button', { type: 'button', 'data-testid': 'edit', on: { click } }, 'Edit this city');

function headParts({ data }: CityDocument): Child[] {
  const { country, name, altName } = data;
  return [
    h('a', { class: 'back', href: `#/country/${country}` }, countryName(country)),
    h('h1', { 'data-testid': 'city-name' }, name),
    altName !== '' && lead(`also ${altName}`),
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

/** Restarts the animation that highlights a change. */
function light(element: HTMLElement): void {
  element.classList.remove('lit');
  // Reading the size forces a layout without the class, so that adding it again restarts the animation.
  void element.offsetWidth;
  element.classList.add('lit');
}
