/** The notes of this copy. Its own writes appear at once. */
import { type StoredDocument, type Expr } from '../../src/index.ts';
import { button, fill, h } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { formatNumber } from '../shell/format.ts';
import type { NoteCopy } from './note-copy.ts';
import { NotePhotos, photoPicker } from './note-photos.ts';
import {
  addPhoto,
  allNotes,
  countNote,
  createNote,
  deleteNote,
  renameNote,
  shareNote,
  type Note,
} from './note-queries.ts';
import { refill } from '../shell/refill.ts';
import { newNoteForm, titleForm } from './title-form.ts';

export interface NoteList {
  readonly node: HTMLElement;
  /** The title that this window saw last, also for a deleted note. */
  readonly titleOf: (id: string) => string;
}

interface NoteListOptions {
  readonly names: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
  readonly onWrite: () => void;
}

type Write = (expression: Expr) => Promise<boolean>;

export function noteList(copy: NoteCopy, options: NoteListOptions): NoteList {
  const { person, sync, db } = copy;
  const { names, signal, onWrite } = options;
  const { write, problem } = noteWriter(copy, onWrite);
  const titles = new Map<string, string>();
  const list = h('ul', { class: 'rows', 'data-testid': 'sync-notes' });
  /** Id of the note whose title is being edited. */
  let editing: string | undefined;
  let latest: readonly StoredDocument<Note>[] = [];
  const picker = photoPicker((id, file) => {
    db.files.put(file).then(
      (photo) => write(addPhoto(id, photo)),
      (error: unknown) => fill(problem, `Not saved: ${explain(error)}`),
    );
  });
  const editButton = (id: string): HTMLElement | null =>
    list.querySelector(`[data-note="${id}"] [aria-label^="Edit "]`);
  const show = (): void => {
    refill(
      list,
      latest.map((note) =>
        noteRow(note, {
          isOwn: note.data.owner.id === person.id,
          owner: names.get(note.data.owner.id) ?? 'Someone',
          isEdited: editing === note.ref.id,
          write,
          photos,
          pickPhoto: () => picker.open(note.ref.id),
          edit: (id) => {
            editing = id;
            show();
            // The form that had the focus has been removed.
            if (id === undefined) editButton(note.ref.id)?.focus();
          },
        }),
      ),
    );
  };
  const photos = new NotePhotos(copy, signal, () => {
    if (!signal.aborted && !list.querySelector('form')) show();
  });
  const stop = sync.client.subscribe(allNotes, {
    next: ({ data }) => {
      for (const { ref, data: note } of data) titles.set(ref.id, note.title);
      latest = data.toSorted((a, b) => (a.data.title < b.data.title ? -1 : 1));
      if (!list.querySelector('form')) show();
    },
    error: (error) => fill(problem, explain(error)),
  });
  signal.addEventListener('abort', stop);
  const node = h(
    'section',
    { class: 'card', 'aria-label': 'Notes' },
    h('h2', {}, 'Notes'),
    newNote(write),
    problem,
    picker.node,
    list,
  );
  return { node, titleOf: (id) => titles.get(id) ?? 'a deleted note' };
}

/** @returns a function that submits a write, and the element `problem`, which shows why the last write was not saved */
function noteWriter({ sync }: NoteCopy, onWrite: () => void) {
  const problem = h('p', { class: 'problem', role: 'alert', 'data-testid': 'note-problem' });
  const write: Write = async (expression) => {
    fill(problem);
    try {
      await sync.client.submit(expression);
      return true;
    } catch (error) {
      fill(problem, `Not saved: ${explain(error)}`);
      return false;
    } finally {
      onWrite();
    }
  };
  return { write, problem };
}

function newNote(write: Write): HTMLElement {
  const shared = h('input', {
    type: 'checkbox',
    name: 'shared',
    checked: true,
    'data-testid': 'new-shared',
  });
  return newNoteForm({
    label: 'Title of a new note',
    placeholder: 'What did you see?',
    testIds: ['new-title', 'add-note'],
    more: h('label', { class: 'check' }, shared, h('span', {}, 'Shared')),
    onTitle: (title) => write(createNote(title, shared.checked)),
  });
}

interface RowOptions {
  readonly isOwn: boolean;
  readonly owner: string;
  readonly isEdited: boolean;
  readonly write: Write;
  readonly photos: NotePhotos;
  readonly pickPhoto: () => void;
  readonly edit: (id: string | undefined) => void;
}

function noteRow(note: StoredDocument<Note>, options: RowOptions): HTMLElement {
  const { isOwn, owner, isEdited, write, edit, photos, pickPhoto } = options;
  const { ref, data } = note;
  const { title, shared, count, photo } = data;
  const act = (text: string, run: () => void): HTMLElement =>
    button(text, run, { class: 'quiet small', 'aria-label': `${text} “${title}”` });
  const stopEditing = (): void => edit(undefined);
  const rename = async (next: string): Promise<void> => {
    if (next === title || (await write(renameNote(ref.id, next)))) stopEditing();
  };
  const owned = `${isOwn ? 'Yours' : `By ${owner}`}, ${shared ? 'shared' : 'private'}`;
  return h(
    'li',
    { 'data-note': ref.id, 'data-count': count },
    isEdited
      ? titleForm({
          title,
          label: `New title for “${title}”`,
          testId: 'edit-title',
          send: 'Save',
          onTitle: rename,
          onCancel: stopEditing,
        })
      : h(
          'span',
          { class: 'grow' },
          title,
          h('small', {}, owned),
          photo && photos.show({ ref, title, photo }),
        ),
    h(
      'span',
      { class: 'buttons' },
      h('span', { class: 'seen-count', title: 'Number of sightings' }, `${formatNumber(count)} ×`),
      act('+1', () => void write(countNote(ref.id))),
      !isEdited && act('Edit', () => edit(ref.id)),
      act('Photo', pickPhoto),
      isOwn && act(shared ? 'Hide' : 'Share', () => void write(shareNote(ref.id, !shared))),
      isOwn && act('Delete', () => void write(deleteNote(ref.id))),
    ),
  );
}
