/** One person's screen: the notes that this person can read, and buttons that try various actions. */
import { q, QueryError, type StoredDocument, type Expr, type Ref } from '../../src/index.ts';
import { button, fill, h, hint } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { counted } from '../shell/format.ts';
import { refill } from '../shell/refill.ts';
import { denialOf } from './denial.ts';
import type { Person } from './people.ts';

interface Note {
  readonly text: string;
  readonly published: boolean;
  readonly owner: Ref;
}

/** Creates a note of the current user. */
const writeNote = (): Expr =>
  q.Create(q.Collection('notes'), {
    data: { text: 'A note just written.', published: false, owner: q.CurrentIdentity() },
  });

const readNotes = q.Map(
  q.Paginate(q.Documents(q.Collection('notes')), { size: 100 }),
  q.Lambda('ref', q.Get(q.Var('ref'))),
);

export interface RoleColumn {
  readonly node: HTMLElement;
  readonly stop: () => void;
}

export function roleColumn(person: Person, names: ReadonlyMap<string, string>): RoleColumn {
  const { name, role, roleName, may, client } = person;
  const list = h('ul', { class: 'rows', 'data-testid': `notes-${role}` });
  const seen = h('p', { class: 'hint', 'data-testid': `seen-${role}` });
  const outcome = h('div', {
    class: 'outcome',
    role: 'status',
    'data-testid': `outcome-${role}`,
  });
  const attempt = async (what: string, expression: Expr): Promise<void> => {
    try {
      await client.query(expression);
      fill(outcome, h('p', { class: 'done' }, `${what}: done.`));
    } catch (error) {
      fill(outcome, ...refusal(what, error, expression, roleName));
    }
    // On a phone the outcome may be outside the visible part of the page.
    outcome.scrollIntoView({ block: 'nearest' });
  };
  const act: Act = (what, label, expression) =>
    button(what, () => attempt(what, expression), { class: 'quiet small', 'aria-label': label });
  const stop = client.subscribe(readNotes, {
    next: (page) => {
      const notes = (page as { readonly data: readonly StoredDocument<Note>[] }).data;
      fill(seen, `Sees ${counted(notes.length, 'note')}.`);
      refill(
        list,
        notes.map((note) => noteRow(note, { names, act, name })),
      );
    },
    error: (error) => fill(outcome, h('p', { class: 'problem' }, explain(error))),
  });
  const heading = `role-${role}`;
  const node = h(
    'section',
    { class: 'role card', 'aria-labelledby': heading },
    h('header', {}, h('h2', { id: heading }, name, h('span', { class: 'tag' }, role)), hint(may)),
    seen,
    list,
    h(
      'div',
      { class: 'buttons' },
      act('Write a note', `Write a note as ${name}`, writeNote()),
      // Each person can try to open note 3, Ada's draft, whether or not the person's list contains it.
      act('Open note 3', `Open note 3 as ${name}`, q.Get(q.Ref(q.Collection('notes'), '3'))),
    ),
    outcome,
  );
  return { node, stop };
}

/** Makes a button that executes the expression and shows the outcome. */
type Act = (what: string, label: string, expression: Expr) => HTMLElement;

function noteRow(
  { ref, data }: StoredDocument<Note>,
  {
    names,
    act,
    name,
  }: {
    readonly names: ReadonlyMap<string, string>;
    readonly act: Act;
    readonly name: string;
  },
): HTMLElement {
  const { text, published, owner } = data;
  const change = published ? 'Hide' : 'Publish';
  const label = (what: string): string => `${what} “${text}” as ${name}`;
  return h(
    'li',
    { 'data-note': ref.id },
    h(
      'span',
      { class: 'grow' },
      text,
      h('small', {}, `${names.get(owner.id) ?? 'Someone'}, ${published ? 'published' : 'draft'}`),
    ),
    h(
      'span',
      { class: 'buttons' },
      act(change, label(change), q.Update(ref, { data: { published: !published } })),
      act('Delete', label('Delete'), q.Delete(ref)),
    ),
  );
}

function refusal(
  what: string,
  error: unknown,
  expression: Expr,
  roleName: string,
): readonly HTMLElement[] {
  const isDenial = error instanceof QueryError && error.code === 'permission denied';
  const denial = isDenial && denialOf(plain(expression), error.position, `the role “${roleName}”`);
  if (!denial) return [h('p', { class: 'problem' }, `${what}: ${explain(error)}`)];
  return [
    h('p', { class: 'problem' }, `${what}: refused. ${denial.sentence}`),
    hint(`permission denied, action ${denial.action}`),
  ];
}

/** The expression as wire JSON. */
export const plain = (expression: Expr): unknown => JSON.parse(JSON.stringify(expression));
