/** The same notes as three people see them. */
import { q, type StoredDocument } from '../../src/index.ts';
import { printValue } from '../../inspector/fql/print-value.ts';
import type { App, View } from '../shell/app.ts';
import { button, fill, h, lead } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { startAgain, type Person } from './people.ts';
import { roleColumn } from './role-column.ts';

export function rolesView(app: App): View {
  const names = new Map(app.people.map(({ id, name }) => [id, name]));
  const columns = app.people.map((person) => roleColumn(person, names));
  const reset = (): Promise<void> =>
    startAgain(app.server).then(
      () => app.say('The notes have been reset.'),
      (error: unknown) => app.say(explain(error), 'bad'),
    );
  const again = button('Reset the notes', reset, { class: 'quiet', 'data-testid': 'start-again' });
  const node = h(
    'div',
    { class: 'view' },
    h('h1', {}, 'Who may do what'),
    lead(
      'The same notes as three users see them. Everyone has every button; the database decides, with roles whose predicates read the note and the user. A change by one user shows for the others at once.',
    ),
    h('div', { class: 'roles' }, ...columns.map((column) => column.node)),
    h(
      'div',
      { class: 'buttons' },
      again,
      h('a', { href: '#/query' }, 'Run queries as one of them'),
    ),
    h('h2', {}, 'The roles, as stored in the database'),
    ...app.people.map((person) => roleText(app, person)),
  );
  return {
    title: 'Roles',
    node,
    stop: () => {
      for (const column of columns) column.stop();
    },
  };
}

function roleText(app: App, { roleName }: Person): HTMLElement {
  const text = h('pre', {});
  const node = h(
    'details',
    { class: 'role-text', 'data-testid': `text-${roleName}` },
    h('summary', {}, roleName),
    text,
  );
  const read = async (): Promise<void> => {
    const { name, privileges, membership } = await app.root.query<
      StoredDocument & {
        readonly name: string;
        readonly privileges: unknown;
        readonly membership: unknown;
      }
    >(q.Get(q.Role(roleName)));
    fill(text, printValue({ name, privileges, membership }));
  };
  node.addEventListener('toggle', () => {
    if (node.open) read().catch((error: unknown) => fill(text, explain(error)));
  });
  return node;
}
