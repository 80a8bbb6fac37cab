// Four builds of a notes app, each with its schema: for the app's pages, and for `burrow schema apply` at its hub.
import { q } from 'burrowdb';
import { defineSchema } from 'burrowdb/schema';

const countNotes = q.Query(q.Lambda('_', q.Count(q.Documents(q.Collection('notes')))));
const countBirds = q.Query(q.Lambda('_', q.Count(q.Match(q.Index('notes_by_kind'), 'bird'))));

/** @param {object} [more] privileges of the role besides those for notes */
const people = (more = {}) => ({
  people: {
    membership: { users: true },
    privileges: {
      collections: { notes: { read: true, create: true, write: true } },
      ...more,
    },
  },
});

const kept = { users: {}, notes: {} };
const byKind = { source: 'notes', terms: [{ field: ['data', 'kind'] }] };
const byKindAndText = { ...byKind, values: [{ field: ['data', 'text'] }, { field: 'ref' }] };

const first = defineSchema({
  collections: { ...kept, drafts: {} },
  indexes: { notes_by_kind: byKind },
  functions: { count: { body: countNotes } },
  roles: people(),
});

/** The index has the text as a further value, so it is rebuilt beside the old one. */
const second = defineSchema({
  collections: { ...kept, drafts: {} },
  indexes: { notes_by_kind: byKindAndText },
  functions: { count: { body: countNotes } },
  roles: people({ indexes: { notes_by_kind: { read: true } } }),
});

/** Notes get a state, and the function counts differently. */
const third = defineSchema({
  collections: { ...kept, drafts: {} },
  indexes: { notes_by_kind: byKindAndText },
  functions: { count: { body: countBirds } },
  roles: people({ indexes: { notes_by_kind: { read: true } } }),
});

/** The collection of drafts is removed. */
const fourth = defineSchema({
  collections: kept,
  indexes: { notes_by_kind: byKindAndText },
  functions: { count: { body: countBirds } },
  roles: people({
    indexes: { notes_by_kind: { read: true } },
    functions: { count: { call: true } },
  }),
});

const steps = {
  3: first.each('notes', (note) => q.Update(q.Select('ref', note), { data: { state: 'open' } }), {
    size: 30,
  }),
};

export const builds = {
  1: { schema: first, version: 1 },
  2: { schema: second, version: 2 },
  3: { schema: third, version: 3, steps },
  4: { schema: fourth, version: 4, steps },
};
