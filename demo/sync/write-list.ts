/** The state of each write, with actions for those that the hub refused. */
import type { Expr, QueryError, Write } from '../../src/index.ts';
import { button, fill, h, hint } from '../shell/dom.ts';
import { explain, isTaken } from '../shell/explain.ts';
import { formatTime } from '../shell/format.ts';
import type { NoteCopy } from './note-copy.ts';
import { createNote, renameNote } from './note-queries.ts';
import { refill } from '../shell/refill.ts';
import { readWrite, sayWrite, type NoteWrite } from './read-write.ts';
import { titleForm } from './title-form.ts';

const SHOWN = 12;

const STATES: Readonly<Record<Write['state'], readonly [word: string, meaning: string]>> = {
  local: ['Waiting', 'Saved here. The hub has not received it yet.'],
  parked: ['Waiting for login', 'Kept until you log in again.'],
  confirmed: ['Confirmed', 'The hub applied it with the same result.'],
  amended: ['Amended', 'The hub applied it, but with a different result than shown here.'],
  refused: ['Refused', ''],
};

export interface WriteList {
  readonly node: HTMLElement;
  readonly refresh: () => void;
  /** Sets the function that returns the title of a note. */
  readonly follow: (titleOf: (id: string) => string) => void;
}

/** @param onResolved called when the user has resolved a refused write */
export function writeList(
  { sync }: NoteCopy,
  signal: AbortSignal,
  onResolved: () => void,
): WriteList {
  const list = h('ol', { class: 'rows writes', 'data-testid': 'writes' });
  const problem = h('p', { class: 'problem', role: 'alert', 'data-testid': 'resolve-problem' });
  let titleOf = (id: string): string => `note ${id}`;
  const resolve = (id: string, choice: Parameters<typeof sync.writes.resolve>[1]): void => {
    fill(problem);
    sync.writes
      .resolve(id, choice)
      .catch((error: unknown) => fill(problem, `Not saved: ${explain(error)}`))
      .finally(() => {
        refresh(true);
        onResolved();
      });
  };
  let turn = 0;
  /** Set after the user submitted a form, so that the next refresh removes the form. */
  let mustShow = false;
  let shown = '';
  const refresh = (isForced = false): void => {
    const mine = (turn += 1);
    mustShow ||= isForced;
    sync.writes.list().then(
      (writes) => {
        // The user is typing in a form.
        if (mine !== turn || (!mustShow && list.querySelector('form'))) return;
        mustShow = false;
        const newest = writes.toSorted((a, b) => order(b) - order(a)).slice(0, SHOWN);
        const rows = newest.map((write) => writeRow(write, titleOf, resolve));
        const text = rows.map((row) => row.outerHTML).join('');
        // The text has no open forms, so a list that shows one is redrawn even if the text is the same.
        if (text === shown && !list.querySelector('form')) return;
        shown = text;
        refill(list, rows);
      },
      (error: unknown) => fill(problem, explain(error)),
    );
  };
  for (const event of ['verdict', 'state', 'progress'] as const)
    sync.addEventListener(event, () => refresh(), { signal });
  refresh();
  const node = h(
    'section',
    { class: 'card', id: 'your-writes', 'aria-label': 'Your writes' },
    h('h2', {}, 'Your writes'),
    hint('Each write is applied here at once. The hub runs it again, and its result is final.'),
    problem,
    list,
  );
  return {
    node,
    refresh,
    follow: (known) => {
      titleOf = known;
      refresh();
    },
  };
}

/** Sorts refused writes first, because they wait for the user, then by time. */
const order = ({ state, at }: Write): number =>
  at.getTime() + (state === 'refused' ? Number.MAX_SAFE_INTEGER / 2 : 0);

type Resolve = (
  id: string,
  choice: { readonly discard: true } | { readonly retry: true } | { readonly edit: Expr },
) => void;

function writeRow(write: Write, titleOf: (id: string) => string, resolve: Resolve): HTMLElement {
  const { id, state, at, predicted } = write;
  const about = readWrite(write.query);
  const said = sayWrite(about, titleOf, write.label);
  const [word, meaning] = STATES[state];
  const why = write.state === 'refused' ? refusal(write.error) : predicted ? FORESEEN : meaning;
  return h(
    'li',
    { 'data-state': state, 'data-write': id },
    h('span', { class: 'grow' }, said, h('small', {}, `${formatTime(at.toISOString())}. ${why}`)),
    h('span', { class: `tag write-${state}` }, word),
    state === 'refused' && choices(write, about, said, resolve),
  );
}

const FORESEEN = 'It no longer works here after changes from the hub and will probably be refused.';

function refusal(error: QueryError): string {
  if (isTaken(error)) return 'A note with this title already exists. You may not see it.';
  if (error.code === 'permission denied')
    return 'You no longer have permission for this. The note may not be shared any more.';
  if (error.code === 'instance not found')
    return 'Someone deleted this note before your write reached the hub.';
  return explain(error);
}

function choices(
  { id }: Write,
  about: NoteWrite | undefined,
  said: string,
  resolve: Resolve,
): HTMLElement {
  const place = h('div', { class: 'choices' });
  const act = (text: string, run: () => void): HTMLElement =>
    button(text, run, { class: 'quiet small', 'aria-label': `${text}: ${said}` });
  const withTitle = retitled(about);
  const cancel = (): void => {
    showButtons();
    place.querySelector('button')?.focus();
  };
  const edit = ({ title, make }: Retitled): void =>
    fill(
      place,
      titleForm({
        title,
        label: `New title instead of “${title}”`,
        testId: 'resolve-title',
        send: 'Send',
        onTitle: (next) => resolve(id, { edit: make(next) }),
        onCancel: cancel,
      }),
    );
  const showButtons = (): void =>
    fill(
      place,
      withTitle && act('Edit', () => edit(withTitle)),
      act('Retry', () => resolve(id, { retry: true })),
      act('Discard', () => resolve(id, { discard: true })),
    );
  showButtons();
  return place;
}

interface Retitled {
  readonly title: string;
  readonly make: (title: string) => Expr;
}

function retitled(about: NoteWrite | undefined): Retitled | undefined {
  if (about?.kind === 'create')
    return { title: about.title, make: (title) => createNote(title, about.shared) };
  if (about?.kind === 'rename')
    return { title: about.title, make: (title) => renameNote(about.id, title) };
  return undefined;
}
