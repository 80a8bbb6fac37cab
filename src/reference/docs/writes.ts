import type { Family, FormDocs } from '../form-docs.ts';

const INVALID = [
  'validation failed',
  'the parameters are not valid; `failures` says which and why',
] as const;
const DENIED = ['permission denied', 'the caller may not do it'] as const;
const ABSENT = ['instance not found', 'there is no such document (HTTP 404)'] as const;
const UNIQUE = ['instance not unique', 'a unique index has its terms already'] as const;
const TAKEN = ['instance already exists', 'the name or id is taken'] as const;

const made = (summary: string, example: string): FormDocs => ({
  summary,
  result: 'Document',
  errors: [INVALID, TAKEN, DENIED],
  example,
});

export const writes: Family = {
  file: 'writes',
  title: 'Writing',
  about:
    'A query is a transaction: either all it writes is there, or nothing. Members that are null are not stored. `ts` of what a query wrote is known when it has committed.',
  docs: {
    create: {
      summary:
        'A new document, in a collection with a fresh id, or at a ref with the id that it names.',
      result: 'Document',
      errors: [INVALID, TAKEN, UNIQUE, DENIED],
      example: 'Create(Ref(Collection("notes"), "104"), { data: { title: "Otter", stars: 5 } })',
    },
    update: {
      summary:
        'Merges members into a document at every depth; null removes a member, arrays are replaced whole.',
      result: 'Document',
      errors: [ABSENT, INVALID, UNIQUE, DENIED],
      example: 'Update(Ref(Collection("notes"), "102"), { data: { stars: 4, tags: null } })',
    },
    replace: {
      summary: 'Puts new members in place of all that a document had.',
      result: 'Document',
      errors: [ABSENT, INVALID, UNIQUE, DENIED],
      example: 'Replace(Ref(Collection("notes"), "102"), { data: { title: "Fox" } })',
    },
    delete: {
      summary: 'Removes a document and gives it back as it was.',
      result: 'Document',
      errors: [ABSENT, DENIED],
      example: 'Delete(Ref(Collection("notes"), "102"))',
    },
    insert: {
      summary: 'Writes an event into the history of a document.',
      result: 'Event',
      errors: [
        ['invalid write time', 'the time lies after the query'],
        ['invalid argument', 'schema objects, tokens and credentials have no history to write'],
        DENIED,
      ],
      example:
        'Insert(Ref(Collection("notes"), "101"), Time("2026-05-01T00:00:00Z"), "update", { data: { title: "Heron" } })',
    },
    remove: {
      summary: 'Takes an event out of the history of a document; that it is not there is no fault.',
      result: 'Null',
      errors: [
        ['invalid argument', 'only documents of user collections have events to remove'],
        DENIED,
      ],
      example: 'Remove(Ref(Collection("notes"), "101"), Time("2026-05-01T00:00:00Z"), "create")',
    },
    create_collection: made(
      'A new collection.',
      'CreateCollection({ name: "sightings", history_days: 0 })',
    ),
    create_class: made(
      'The old name of `create_collection`.',
      'CreateClass({ name: "sightings" })',
    ),
    create_database: made(
      'A new child database.',
      'Select("name", CreateDatabase({ name: "archive" }))',
    ),
    create_index: made(
      'A new index of one or several collections: `terms` is what it is searched by, `values` what it gives and is ordered by.',
      'CreateIndex({ name: "notes_by_title", source: Collection("notes"), terms: [{ field: ["data", "title"] }] })',
    ),
    create_key: made(
      'A new key with a role. The answer is the only one that shows its secret.',
      'Select("role", CreateKey({ role: "server", name: "for the bus stop" }))',
    ),
    create_function: made(
      'A new stored function; with a `role` it runs with rights of its own.',
      'CreateFunction({ name: "square", body: Query(Lambda("x", Multiply(Var("x"), Var("x")))) })',
    ),
    create_role: made(
      'A new role: what its members may do, and who they are.',
      'CreateRole({ name: "writer", privileges: [{ resource: Collection("notes"), actions: { read: true, write: true } }] })',
    ),
    create_access_provider: {
      ...made(
        'A new provider of identities, whose signed tokens are taken as secrets.',
        'Select("name", CreateAccessProvider({ name: "guild", issuer: "https://guild.example", jwks_uri: "https://guild.example/keys" }))',
      ),
      errors: [
        INVALID,
        TAKEN,
        [
          'feature not available',
          'at the root database, unless the app names it by its option `audience`',
        ],
        DENIED,
      ],
    },
    move_database: {
      summary: 'Puts a database with all it holds under another.',
      result: 'Document',
      errors: [
        ['move database error', 'it would lie below itself, or its name is taken there'],
        DENIED,
      ],
      example: 'Select("name", MoveDatabase(Database("shop"), Database("cellar")))',
    },
  },
};
