/** Notes that were written on this device without an account, and their adoption, which makes each note a write of a copy. */
import {
  openDatabase,
  q,
  type Database,
  type Observer,
  type Page,
  type Ref,
} from '../../src/index.ts';
import {
  adopt,
  planAdoption,
  type AdoptionPlan,
  type AdoptOptions,
} from '../../src/adopt/adopt.ts';
import { button, fill, h, hint } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { counted } from '../shell/format.ts';
import type { NoteCopy } from './note-copy.ts';
import { newNoteForm } from './title-form.ts';

const DATABASE = 'burrow-notes-alone';
const COLLECTION = q.Collection('notes');
const TITLES = q.Map<Page<string>>(
  q.Paginate(q.Documents(COLLECTION), { size: 200 }),
  q.Lambda('ref', q.Select(['data', 'title'], q.Get(q.Var('ref')))),
);
const REFS = q.Select<Ref[]>('data', q.Paginate(q.Documents(COLLECTION), { size: 100_000 }));

/** The database, opened when it is first needed in this window. */
let alone: Promise<Database> | undefined;

function openAlone(): Promise<Database> {
  alone ??= openDatabase(DATABASE).then(async (db) => {
    db.addEventListener('closed', () => (alone = undefined));
    await db
      .client()
      .query(q.If(q.Exists(COLLECTION), null, q.CreateCollection({ name: 'notes' })));
    return db;
  });
  return alone;
}

/** Deletes only these notes: another window has the same database open, and may have added notes since they were listed. */
const deleteNotes = (refs: readonly Ref[]) =>
  q.Foreach(refs, (ref) => q.If(q.Exists(ref), q.Delete(ref), null));

interface Adoption {
  readonly copy: NoteCopy;
  readonly say: (message: string) => void;
  readonly onWrite: () => void;
}

/** Adopts all notes into the copy, and deletes the originals when the hub has accepted all of them. */
async function bringIn({ copy: { sync }, say, onWrite }: Adoption): Promise<void> {
  const db = await openAlone();
  const owner = await sync.client.query(q.CurrentIdentity());
  const options: AdoptOptions = {
    map: ({ data }) => ({ data: { ...data, shared: false, count: 0, owner } }),
    label: ({ data }) => `Bring in “${String(data['title'])}”`,
  };
  if (!confirmsClashes(await planAdoption(db, sync, options))) return;
  const refs = await db.client().query(REFS);
  const { submitted, settled, failed } = await adopt(db, sync, options);
  onWrite();
  say(`${counted(submitted, 'note')} stored in the copy. Waiting for the hub…`);
  const { refused } = await settled;
  const kept = failed.length + refused.length;
  if (kept === 0) await db.client().query(deleteNotes(refs));
  say(
    kept === 0
      ? 'The hub has them all. They were deleted here.'
      : `${counted(kept, 'note')} refused: “Your writes” shows the reasons. All notes stay here, too.`,
  );
  onWrite();
}

function confirmsClashes({ documents, clashes }: AdoptionPlan): boolean {
  const reasons = clashes.map(({ description }) => description).join(' ');
  const question = `${clashes.length} of ${documents} will be refused. ${reasons} Copy the others?`;
  return clashes.length === 0 || confirm(question);
}

/** Subscribes to the titles: another window may change the same notes. */
async function follow(observer: Observer<Page<string>>, signal: AbortSignal): Promise<void> {
  const db = await openAlone();
  db.client().subscribe(TITLES, observer, { signal });
}

async function createNote(title: string): Promise<void> {
  const db = await openAlone();
  await db.client().query(q.Create(COLLECTION, { data: { title } }));
}

export function notesAlone(copy: NoteCopy, signal: AbortSignal, onWrite: () => void): HTMLElement {
  const list = h('ul', { class: 'rows', 'data-testid': 'alone-notes' });
  const said = h('p', { class: 'hint', role: 'status', 'data-testid': 'adopt-state' });
  const say = (message: string): void => fill(said, message);
  const show = ({ data }: Page<string>): void => {
    fill(list, ...data.map((each) => h('li', {}, h('span', { class: 'grow' }, each))));
    const hadFocus = document.activeElement === bring;
    bring.disabled = data.length === 0;
    // A disabled button loses the focus.
    if (hadFocus && bring.disabled) form.querySelector('input')?.focus();
  };
  /** @returns whether `work` succeeded */
  const run = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      say(explain(error));
      return false;
    }
  };
  let isBusy = false;
  const adoptAll = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      await bringIn({ copy, say, onWrite });
    } finally {
      isBusy = false;
    }
  };
  const add = async (title: string): Promise<void> => {
    await createNote(title);
    say('');
  };
  const form = newNoteForm({
    label: 'Title of a note without an account',
    placeholder: 'A note without an account',
    testIds: ['alone-title', 'alone-add'],
    onTitle: (title) => run(() => add(title)),
  });
  const bring = button(`Bring them into ${copy.person.name}’s copy`, () => run(adoptAll), {
    class: 'quiet',
    disabled: true,
    'data-testid': 'adopt',
  });
  void run(() => follow({ next: show, error: (error) => say(explain(error)) }, signal));
  return h(
    'section',
    { class: 'card', 'aria-label': 'Notes without an account' },
    h('h2', {}, 'Notes without an account'),
    hint(
      'They are in a database of this device that is not a copy. When you bring them in, each becomes a write of your copy.',
    ),
    form,
    list,
    h('div', { class: 'buttons' }, bring),
    said,
  );
}
