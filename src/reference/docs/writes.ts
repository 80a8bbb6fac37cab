import type { Family, FormDocs } from '../form-docs.ts';

const INVALID = [
  'validation failed',
  'the parameters are invalid; `failures` lists which and why',
] as const;
const DENIED = ['permission denied', 'the caller may not do this'] as const;
const ABSENT = ['instance not found', 'there is no such document (HTTP 404)'] as const;
const UNIQUE = [
  'instance not unique',
  'a unique index already has an entry with these values',
] as const;
const TAKEN = ['instance already exists', 'the name or id is already in use'] as const;

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
    'A query is a transaction: all of its writes happen, or none. Members that are null are not stored. The `ts` of a document that the query wrote is known only after the commit. The members of collections, indexes, functions, roles, keys and databases: [schema.md](../schema.md).',
  docs: {
    create: {
      summary:
        'Creates a document: in a collection with a new id, or at a ref with the id of the ref.',
      result: 'Document',
      errors: [INVALID, TAKEN, UNIQUE, DENIED],
      example: 'Create(Ref(Collection("notes"), "104"), { data: { title: "Otter", stars: 5 } })',
    },
    update: {
      summary:
        'Merges members into a document at every depth. Null removes a member; arrays are replaced as a whole.',
      result: 'Document',
      errors: [ABSENT, INVALID, UNIQUE, DENIED],
      example: 'Update(Ref(Collection("notes"), "102"), { data: { stars: 4, tags: null } })',
    },
    replace: {
      summary: 'Replaces all members of a document.',
      result: 'Document',
      errors: [ABSENT, INVALID, UNIQUE, DENIED],
      example: 'Replace(Ref(Collection("notes"), "102"), { data: { title: "Fox" } })',
    },
    delete: {
      summary: 'Deletes a document and returns it as it was.',
      result: 'Document',
      errors: [ABSENT, DENIED],
      example: 'Delete(Ref(Collection("notes"), "102"))',
    },
    insert: {
      summary: 'Inserts an event into the history of a document.',
      result: 'Event',
      errors: [
        ['invalid write time', 'the time is later than the transaction time, or before 1684-07-28'],
        [
          'invalid argument',
          'the history of schema objects, tokens and credentials cannot be changed',
        ],
        DENIED,
      ],
      example:
        'Insert(Ref(Collection("notes"), "101"), Time("2026-05-01T00:00:00Z"), "update", { data: { title: "Heron" } })',
    },
    remove: {
      summary:
        'Removes an event from the history of a document. Removing an event that does not exist is not an error.',
      result: 'Null',
      errors: [['invalid argument', 'the document is not in a user collection'], DENIED],
      example: 'Remove(Ref(Collection("notes"), "101"), Time("2026-05-01T00:00:00Z"), "create")',
    },
    create_collection: made(
      'Creates a collection.',
      'CreateCollection({ name: "sightings", history_days: 0 })',
    ),
    create_class: made(
      'The old name of `create_collection`.',
      'CreateClass({ name: "sightings" })',
    ),
    create_database: made(
      'Creates a child database.',
      'Select("name", CreateDatabase({ name: "archive" }))',
    ),
    create_index: made(
      'Creates an index of one or several collections. `terms` are the fields to search by; `values` are the fields it returns and sorts by.',
      'CreateIndex({ name: "notes_by_title", source: Collection("notes"), terms: [{ field: ["data", "title"] }] })',
    ),
    create_key: made(
      'Creates a key with a role. Only this answer contains the secret of the key.',
      'Select("role", CreateKey({ role: "server", name: "for the bus stop" }))',
    ),
    create_function: made(
      'Creates a stored function. With a `role` it runs with the permissions of that role.',
      'CreateFunction({ name: "square", body: Query(Lambda("x", Multiply(Var("x"), Var("x")))) })',
    ),
    create_role: made(
      'Creates a role: its privileges and who its members are. What it names is governed by roles alone: `permissions` no longer apply there.',
      'CreateRole({ name: "writer", privileges: [{ resource: Collection("notes"), actions: { read: true, write: true } }] })',
    ),
    create_access_provider: {
      ...made(
        'Creates an access provider: an identity provider whose signed tokens (JWT) are accepted as secrets.',
        'Select("name", CreateAccessProvider({ name: "guild", issuer: "https://guild.example", jwks_uri: "https://guild.example/keys" }))',
      ),
      errors: [
        INVALID,
        TAKEN,
        [
          'feature not available',
          'in the root database of a page that does not set the option `audience`',
        ],
        DENIED,
      ],
    },
    move_database: {
      summary: 'Moves a database, with everything in it, under another parent.',
      result: 'Document',
      errors: [
        [
          'move database error',
          'the new parent is the database itself or below it, or already has a child of that name',
        ],
        DENIED,
      ],
      example: 'Select("name", MoveDatabase(Database("shop"), Database("cellar")))',
    },
  },
};
