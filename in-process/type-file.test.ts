import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { compileSurface } from '../scripts/compile-surface.mjs';
import { root } from '../scripts/setup.mjs';
import { q } from '../src/index.ts';
import { openDatabase } from './testing.ts';
import { typeFile } from './type-file.ts';

/** The errors that an app's compiler reports for the file. */
function problemsIn(text: string): string[] {
  const path = join(root, 'docs/burrow-types.ts');
  const program = compileSurface(new Map([[path, text]]));
  const source = program.getSourceFile(path);
  return [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ].map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

test('typeFile() declares the fields of documents, and its output compiles', async () => {
  const db = await openDatabase();
  const admin = db.client();
  for (const name of ['people', 'notes', 'class', 'empty'])
    await admin.query(q.CreateCollection({ name }));
  const { ref: ada } = await admin.query(
    q.Create(q.Collection('people'), {
      data: { name: 'Ada', 'e-mail': 'a@b', born: q.Date('1815-12-10') },
    }),
  );
  await admin.query(
    q.Create(q.Collection('notes'), {
      data: {
        title: 'A heron',
        tags: ['bird'],
        owner: ada,
        at: q.Now(),
        place: { x: 1, y: 2.5 },
        done: true,
      },
    }),
  );
  await admin.query(
    q.Create(q.Collection('notes'), { data: { title: 7, tags: ['a', 1], place: { x: 2 } } }),
  );
  await admin.query(
    q.CreateIndex({
      name: 'notes_by_tag',
      source: q.Collection('notes'),
      terms: [{ field: ['data', 'tags'] }, { field: ['data', 'owner'] }],
      values: [{ field: ['data', 'title'] }, { field: ['ref'] }],
    }),
  );
  await admin.query(q.CreateIndex({ name: 'all', source: '_', terms: [{ field: ['ts'] }] }));
  const text = await typeFile(admin, 'http://hub');
  await db.close();
  expect(problemsIn(text)).toEqual([]);
  expect(text)
    .toBe(`// Written by \`burrow types\` from http://hub: its collections and indexes, and up to 100 documents of each.
import { q, type Arg, type DocumentRef, type Expr, type FaunaDate, type FaunaTime } from 'burrowdb';

/** "class": no document was there. */
export interface Class {
  readonly [name: string]: unknown;
}
export const class2 = q.Collection<Class>("class");

/** "empty": no document was there. */
export interface Empty {
  readonly [name: string]: unknown;
}
export const empty = q.Collection<Empty>("empty");

/** "notes": of 2 documents. */
export interface Notes {
  readonly title: number | string;
  readonly tags: readonly (number | string)[];
  readonly owner?: DocumentRef<People>;
  readonly at?: FaunaTime;
  readonly place: {
    readonly x: number;
    readonly y?: number;
  };
  readonly done?: boolean;
}
export const notes = q.Collection<Notes>("notes");

/** "people": of 1 documents. */
export interface People {
  readonly name: string;
  readonly "e-mail": string;
  readonly born: FaunaDate;
}
export const people = q.Collection<People>("people");

export const all = (term1: Arg) =>
  q.Match<unknown>(q.Index("all"), term1);

export const notesByTag = (term1: number | string | Expr<number | string>, term2: DocumentRef<People> | Expr<DocumentRef<People>>) =>
  q.Match<[number | string, DocumentRef<Notes>]>(q.Index("notes_by_tag"), term1, term2);
`);
});

test('typeFile() accepts an index whose terms or values are not an array', async () => {
  const db = await openDatabase();
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  const source = q.Collection('notes');
  const [terms, values] = [{ field: ['data', 'tag'] }, { field: 'ts' }] as const;
  await admin.query(q.CreateIndex({ name: 'by_tag', source, terms, values }));
  await admin.query(q.CreateIndex({ name: 'all_notes', source, values: [] }));
  const text = await typeFile(admin, 'http://hub');
  await db.close();
  expect(problemsIn(text)).toEqual([]);
  expect(text).toContain('(term1: Arg) =>\n  q.Match<number>(q.Index("by_tag"), term1);');
  expect(text).toContain('() =>\n  q.Match<DocumentRef<Notes>>(q.Index("all_notes"));');
});

test('typeFile() uses no name that a module may not declare', async () => {
  const db = await openDatabase();
  const admin = db.client();
  for (const name of ['arguments', 'eval', 'implements', 'undefined', 'static', 'async', '日本'])
    await admin.query(q.CreateCollection({ name }));
  const text = await typeFile(admin, 'http://hub');
  await db.close();
  expect(problemsIn(text)).toEqual([]);
});
