/** One person's window: the person's notes, the state of the connection to the hub, and the state of each write. */
import type { Sync } from '../../src/index.ts';
import type { App } from '../shell/app.ts';
import { button, fill, h, hint } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { counted, formatBytes, formatNumber, formatTime } from '../shell/format.ts';
import type { HubNotes, Person } from './hub-place.ts';
import { networkSwitch } from './network-switch.ts';
import { forgetCopy, logOut, type NoteCopy } from './note-copy.ts';
import { createNote } from './note-queries.ts';
import { keptNotes } from './kept-notes.ts';
import { noteList } from './note-list.ts';
import { notesAlone } from './notes-alone.ts';
import { writeList } from './write-list.ts';

export interface Workspace {
  readonly node: HTMLElement;
  readonly stop: () => void;
}

export function workspace(app: App, copy: NoteCopy, hub: HubNotes, onOut: () => void): Workspace {
  const { person, sync, db } = copy;
  const ending = new AbortController();
  const { signal } = ending;
  const names = new Map(hub.people.map(({ id, name }) => [id, name]));
  const other = hub.people.find(({ id }) => id !== person.id);
  const progress = progressLine(copy, signal);
  const writes = writeList(copy, signal, progress.refresh);
  const onWrite = (): void => {
    writes.refresh();
    progress.refresh();
  };
  const notes = noteList(copy, { names, signal, onWrite });
  writes.follow((id) => notes.titleOf(id));
  const leave = (how: () => Promise<void>): void => {
    how().then(onOut, (error: unknown) => app.say(explain(error), 'bad'));
  };
  db.addEventListener('locked', onOut, { signal });
  const node = h(
    'div',
    { class: 'workspace' },
    h(
      'header',
      { class: 'card sync-top' },
      h(
        'div',
        { class: 'sync-who' },
        h('h2', { 'data-testid': 'sync-person' }, `${person.name}’s copy`),
        badge(sync, signal),
      ),
      networkSwitch(copy, signal),
      progress.node,
      h(
        'div',
        { class: 'buttons' },
        other && windowLink(other),
        quiet('Log out', 'sync-log-out', () => leave(() => logOut(copy))),
        quiet('Delete this copy', 'sync-forget', () => leave(() => forget(copy))),
      ),
    ),
    h(
      'div',
      { class: 'sync-columns' },
      notes.node,
      h(
        'div',
        { class: 'sync-side' },
        writes.node,
        keptNotes(copy, signal),
        notesAlone(copy, signal, onWrite),
        other && provoke(copy, other, onWrite),
      ),
    ),
  );
  return { node, stop: () => ending.abort() };
}

/** Deletes the copy. Asks for a confirmation if unsent writes would be lost. */
async function forget(copy: NoteCopy): Promise<void> {
  const waiting = await copy.sync.writes.list({ states: ['local', 'parked'] });
  const question = `${formatNumber(waiting.length)} of your writes have not reached the hub. Delete them too?`;
  if (waiting.length > 0 && !confirm(question)) return;
  await forgetCopy(copy, waiting.length > 0);
}

const windowLink = ({ id, name }: Person): HTMLElement =>
  h(
    'a',
    { href: `#/sync/${id}`, target: '_blank', rel: 'noopener', 'data-testid': 'other-window' },
    `Open ${name}’s window`,
  );

const quiet = (text: string, testId: string, run: () => void): HTMLElement =>
  button(text, run, { class: 'quiet small', 'data-testid': testId });

const STATES: Readonly<Record<Sync['state'], readonly [word: string, meaning: string]>> = {
  connecting: ['Connecting', 'Connecting to the hub.'],
  'catching-up': ['Catching up', 'Loading changes.'],
  live: ['Up to date', 'This window shows what the hub has.'],
  offline: [
    'Offline',
    'The hub cannot be reached. You can keep writing: everything is stored here and sent later.',
  ],
  'needs-login': ['Log in again', 'Your login has expired. Your writes are kept until you log in.'],
  locked: ['Locked', 'The hub has revoked this login. No data is shown.'],
};

/** The state of the sync, as a word and a sentence. */
function badge(sync: Sync, signal: AbortSignal): HTMLElement {
  const node = h('p', { class: 'sync-badge', role: 'status', 'data-testid': 'sync-badge' });
  const update = (): void => {
    const [word, meaning] = STATES[sync.state];
    node.dataset['state'] = sync.state;
    fill(node, h('strong', {}, word), ` ${meaning}`);
  };
  sync.addEventListener('state', update, { signal });
  update();
  return node;
}

interface ProgressLine {
  readonly node: HTMLElement;
  readonly refresh: () => void;
}

/** Shows how many documents have arrived and how many writes are waiting. */
function progressLine({ db, sync }: NoteCopy, signal: AbortSignal): ProgressLine {
  const bar = h('progress', { 'aria-label': 'Documents of the copy', hidden: true });
  const waits = h('p', { class: 'hint', 'data-testid': 'sync-waits' });
  const refused = h('p', { 'data-testid': 'sync-refused' });
  const came = h('p', { class: 'hint' });
  const countWaiting = async (): Promise<void> => {
    const waiting = await sync.writes.list({ states: ['local', 'parked'] });
    const oldest = Math.min(...waiting.map(({ at }) => at.getTime()));
    const count = counted(waiting.length, 'write waits', 'writes wait');
    const since = formatTime(new Date(waiting.length > 0 ? oldest : 0).toISOString());
    const photos = (await db.files.list()).filter(
      ({ state }) => state === 'unsent' || state === 'here',
    );
    fill(
      waits,
      waiting.length > 0 && `${count} for the hub, since ${since}. `,
      photos.length > 0 && `${formatNumber(photos.length)} of your photos not sent yet.`,
    );
    const { length } = await sync.writes.list({ states: ['refused'] });
    const said = `${counted(length, 'write was', 'writes were')} refused.`;
    if (refused.textContent.startsWith(said)) return;
    fill(refused, ...(length > 0 ? [said, ' ', lookButton()] : []));
  };
  const refresh = (): void => {
    countWaiting().catch((error: unknown) => fill(waits, explain(error)));
  };
  sync.addEventListener(
    'progress',
    ({ detail: { sets, bytes } }) => {
      const rows = sets.reduce((sum, set) => sum + set.rows, 0);
      const of = sets.reduce((sum, set) => sum + (set.of ?? set.rows), 0);
      bar.hidden = rows >= of;
      bar.max = Math.max(of, 1);
      bar.value = rows;
      fill(came, `${formatBytes(bytes)} received from the hub since this window was opened.`);
      refresh();
    },
    { signal },
  );
  sync.addEventListener('verdict', refresh, { signal });
  db.files.addEventListener('progress', refresh, { signal });
  refresh();
  return { node: h('div', { class: 'sync-progress' }, bar, waits, refused, came), refresh };
}

function lookButton(): HTMLElement {
  const look = (): void => {
    const list = document.querySelector('#your-writes');
    list?.scrollIntoView({ block: 'start' });
    list?.querySelector('button')?.focus({ preventScroll: true });
  };
  return button('Show reason and options', look, { class: 'plain inline' });
}

/** Submits a write that is valid as far as this copy knows, but that the hub will refuse. */
function provoke(copy: NoteCopy, { name, secretTitle }: Person, onWrite: () => void): HTMLElement {
  const outcome = h('p', { class: 'problem', role: 'alert' });
  const run = (): void => {
    fill(outcome);
    copy.sync.client
      .submit(createNote(secretTitle, false))
      .then(onWrite, (error: unknown) => fill(outcome, explain(error)));
  };
  return h(
    'section',
    { class: 'card' },
    h('h2', {}, 'Try a refused write'),
    hint(
      `Titles of notes are unique. ${name} has a private note “${secretTitle}” that you cannot see. It is not in this copy, so this window accepts a note with the same title, and the hub refuses it.`,
    ),
    h(
      'div',
      { class: 'buttons' },
      button(`Add a note “${secretTitle}”`, run, { class: 'quiet', 'data-testid': 'provoke' }),
    ),
    outcome,
  );
}
