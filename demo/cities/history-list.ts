import type { App } from '../shell/app.ts';
import { fill, h, type Child } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { formatMicros, formatNumber } from '../shell/format.ts';
import { cityEvents, namesOfUsers, type CityEvent, type StoredCity } from './city-queries.ts';

/** All versions of a city, newest first. They are read with the server key: a user's token may not read history. */
export function historyList(
  app: App,
  id: string,
): { readonly node: HTMLElement; readonly stop: () => void } {
  const list = h('ol', { class: 'history', 'data-testid': 'history' });
  const show = async (events: readonly CityEvent[]): Promise<void> => {
    const ids = [...new Set(events.flatMap(({ data }) => data?.editedBy?.id ?? []))];
    const users = await namesOfUsers(app.server, ids);
    fill(list, ...items(events, users).reverse());
  };
  const stop = app.server.subscribe(cityEvents(id), {
    next: ({ data }) => {
      show(data).catch((error: unknown) => fill(list, h('li', {}, explain(error))));
    },
    error: (error) => fill(list, h('li', { class: 'problem' }, explain(error))),
  });
  const node = h('section', { class: 'history-section' }, h('h2', {}, 'History'), list);
  return { node, stop };
}

const WORDS = { create: 'Imported', update: 'Changed', delete: 'Deleted' };

type Known = Partial<StoredCity>;

/** Turns each event into a row with its changes. The first event has all fields, later ones only the changed fields. */
function items(events: readonly CityEvent[], users: ReadonlyMap<string, string>): HTMLElement[] {
  let known: Known = {};
  return events.map((event) => {
    const before = known;
    known = { ...before, ...event.data };
    const { action, ts } = event;
    const editor = action === 'update' ? known.editedBy : undefined;
    return h(
      'li',
      { 'data-action': action },
      h('p', {}, h('strong', {}, WORDS[action]), editor && ` by ${users.get(editor.id)}`),
      h('time', { datetime: new Date(ts / 1000).toISOString() }, formatMicros(ts)),
      ...(action === 'update' ? changes(before, known) : []),
    );
  });
}

const SHOWN = { name: 'Name', altName: 'Other name', population: 'Population' } as const;

function changes(before: Known, after: Known): Child[] {
  return (Object.keys(SHOWN) as (keyof typeof SHOWN)[])
    .filter((name) => before[name] !== after[name])
    .map((name) =>
      h(
        'p',
        { class: 'change' },
        `${SHOWN[name]}: `,
        h('del', {}, text(before[name])),
        ' → ',
        h('ins', {}, text(after[name])),
      ),
    );
}

function text(value: string | number | undefined): string {
  if (typeof value === 'number') return formatNumber(value);
  return value === undefined || value === '' ? 'none' : value;
}
