/** The types that a schema gives to its documents. Checked by `npm run types`, never run. */
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import type { Client, DocumentRef, Page, Ref, StoredDocument } from '../index.ts';
import { defineSchema } from './define-schema.ts';

interface Note {
  title: string;
  owner: DocumentRef<User>;
  tags: string[];
  stars?: number | undefined;
}
interface User {
  email: string;
  active: boolean;
}
interface Place {
  name: string;
}

const schema = defineSchema({
  collections: {
    notes: {
      type: z.object({
        title: z.string(),
        owner: z.custom<DocumentRef<User>>(),
        tags: z.array(z.string()),
        stars: z.number().optional(),
      }),
      history_days: 7,
    },
    users: { type: v.object({ email: v.string(), active: v.boolean() }) },
    places: { type: type({ name: 'string' }) },
    others: {},
  },
  indexes: {
    notes_by_owner: { source: 'notes', terms: [{ field: ['data', 'owner'] }] },
    notes_by_tag: {
      source: 'notes',
      terms: [{ field: ['data', 'tags'] }, { field: ['data', 'stars'] }],
      values: [{ field: 'ts', reverse: true }, { field: ['data', 'title'] }, { field: ['ref'] }],
    },
    emails: { source: 'users', values: [{ field: ['data', 'email'] }] },
    both: { source: ['users', 'places'] },
  },
  roles: {
    member: {
      membership: {
        users: (user) => {
          expectTypeOf(user).toExtend<{ readonly raw: unknown }>();
          return q.Select(['data', 'active'], q.Get(user));
        },
      },
      privileges: {
        collections: {
          notes: {
            read: (ref) => q.Select(['data', 'title'], q.Get(ref)),
            write: (before, after) =>
              q.Equals(q.Select(['data', 'owner'], before), q.Select(['data', 'owner'], after)),
            // @ts-expect-error Notes have no author.
            create: (params) => q.Select(['data', 'author'], params),
          },
          // @ts-expect-error There is no such collection.
          nots: { read: true },
        },
      },
    },
  },
});
import { q } from '../index.ts';

declare const client: Client;
declare const ada: DocumentRef<User>;

export async function reads(): Promise<void> {
  const s = schema.q;
  const note = await client.query(s.Get(s.Ref(s.Collection('notes'), '1')));
  expectTypeOf(note).toEqualTypeOf<StoredDocument<Note>>();
  const user = await client.query(s.Get(s.Ref(s.Collection('users'), '1')));
  expectTypeOf(user).toEqualTypeOf<StoredDocument<User>>();
  const place = await client.query(s.Get(s.Ref(s.Collection('places'), '1')));
  expectTypeOf(place).toEqualTypeOf<StoredDocument<Place>>();
  const other = await client.query(s.Get(s.Ref(s.Collection('others'), '1')));
  expectTypeOf(other.data).toEqualTypeOf<Record<string, unknown>>();
  const all = await client.query(s.Paginate(s.Documents(s.Collection('notes'))));
  expectTypeOf(all).toEqualTypeOf<Page<DocumentRef<Note>>>();
  const owned = await client.query(s.Paginate(s.Match(s.Index('notes_by_owner'), ada)));
  expectTypeOf(owned).toEqualTypeOf<Page<DocumentRef<Note>>>();
  const tagged = await client.query(s.Paginate(s.Match(s.Index('notes_by_tag'), 'birds', null)));
  expectTypeOf(tagged).toEqualTypeOf<Page<[number, string, DocumentRef<Note>]>>();
  const emails = await client.query(s.Paginate(s.Match(s.Index('emails'))));
  expectTypeOf(emails).toEqualTypeOf<Page<string>>();
  const titles = await client.query(
    s.Map(s.Paginate(s.Match(s.Index('notes_by_owner'), ada)), (ref) =>
      s.Select(['data', 'title'], s.Get(ref)),
    ),
  );
  expectTypeOf(titles).toEqualTypeOf<Page<string>>();
  const both = await client.query(s.Paginate(s.Match(s.Index('both'))));
  expectTypeOf(both.data).toExtend<Ref[]>();
  schema.each('notes', (document) => q.Update(q.Select('ref', document), { data: { stars: 1 } }));
}

export function refused(): void {
  const s = schema.q;
  // @ts-expect-error There is no such collection.
  s.Collection('nots');
  // @ts-expect-error There is no such index.
  s.Index('notes_by_tags');
  // @ts-expect-error A tag is text.
  s.Match(s.Index('notes_by_tag'), 1, 2);
  // @ts-expect-error The index has two terms.
  s.Match(s.Index('notes_by_tag'), 'birds');
  // @ts-expect-error The index has no terms.
  s.Match(s.Index('emails'), 'a@b');
  // @ts-expect-error A title is text.
  s.Create(s.Collection('notes'), { data: { title: 1, owner: ada, tags: [] } });
  // @ts-expect-error Notes have no author.
  s.Select(['data', 'author'], s.Get(s.Ref(s.Collection('notes'), '1')));
  // @ts-expect-error There is no such collection.
  schema.each('nots', () => null);
  // @ts-expect-error Neither here.
  defineSchema({ collections: { notes: {} }, indexes: { all: { source: 'nots' } } });
}
