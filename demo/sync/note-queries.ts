/** The writes of this page. Each is a query that is executed on the copy at once, and later again at the hub. */
import {
  q,
  type FileRef,
  type StoredDocument,
  type Expr,
  type Page,
  type Ref,
} from '../../src/index.ts';

export interface Note {
  readonly title: string;
  readonly shared: boolean;
  readonly count: number;
  readonly owner: Ref;
  readonly photo?: FileRef;
}

export const NOTES = q.Documents(q.Collection('notes'));
export const PEOPLE = q.Documents(q.Collection('people'));

/** The notes of one person. */
export const notesOf = (personId: string): Expr =>
  q.Match(q.Index('notes_by_owner'), q.Ref(q.Collection('people'), personId));

const note = (id: string): Expr => q.Ref(q.Collection('notes'), id);

export const allNotes = q.Map<Page<StoredDocument<Note>>>(
  q.Paginate(NOTES, { size: 200 }),
  q.Lambda('ref', q.Get(q.Var('ref'))),
);

export const createNote = (title: string, shared: boolean): Expr =>
  q.Create(q.Collection('notes'), {
    data: { title, shared, count: 0, owner: q.CurrentIdentity() },
  });

export const renameNote = (id: string, title: string): Expr =>
  q.Update(note(id), { data: { title } });

export const shareNote = (id: string, shared: boolean): Expr =>
  q.Update(note(id), { data: { shared } });

/** Increments the count that is stored when the query is executed: if two people count, both increments are kept. */
export const countNote = (id: string): Expr =>
  q.Update(note(id), {
    data: { count: q.Add(q.Select(['data', 'count'], q.Get(note(id))), 1) },
  });

export const addPhoto = (id: string, photo: FileRef): Expr =>
  q.Update(note(id), { data: { photo } });

export const deleteNote = (id: string): Expr => q.Delete(note(id));
