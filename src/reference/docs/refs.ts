import type { Family, FamilyDocs } from '../form-docs.ts';

const NAMED: Readonly<Record<string, readonly [summary: string, example: string]>> = {
  collection: ['The ref of the collection with this name.', 'Collection("notes")'],
  class: ['The old name of `collection`.', 'Class("notes")'],
  database: ['The ref of the child database with this name.', 'Database("shop")'],
  index: ['The ref of the index with this name.', 'Index("notes_by_tag")'],
  function: ['The ref of the stored function with this name.', 'Function("double")'],
  role: ['The ref of the role with this name.', 'Role("reader")'],
  access_provider: [
    'The ref of the access provider with this name. A name that does not exist also gives a ref, which can be returned and compared.',
    'Exists(AccessProvider("nobody"))',
  ],
};
const NATIVE: Readonly<Record<string, readonly [summary: string, example: string]>> = {
  collections: ['All collections.', 'Paginate(Collections())'],
  classes: ['The old name of `collections`.', 'Classes()'],
  databases: ['All child databases.', 'Paginate(Databases())'],
  indexes: ['All indexes.', 'Count(Indexes())'],
  functions: ['All stored functions.', 'Paginate(Functions())'],
  roles: ['All roles.', 'Paginate(Roles())'],
  keys: ['All keys of this database. A key is a document of the database it opens.', 'Keys()'],
  tokens: ['All tokens.', 'Count(Tokens())'],
  credentials: ['All credentials.', 'Count(Credentials())'],
  access_providers: ['All access providers.', 'IsEmpty(AccessProviders())'],
};

const refsOf = (table: typeof NAMED, errors: FamilyDocs[string]['errors'] = []): FamilyDocs =>
  Object.fromEntries(
    Object.entries(table).map(([name, [summary, example]]) => [
      name,
      { summary, result: 'Ref', errors, example },
    ]),
  );

const NO_SCOPE = [['invalid ref', 'the database given as `scope` does not exist']] as const;

export const refs: Family = {
  file: 'refs',
  title: 'Refs',
  about:
    'A ref identifies a document, a schema object, or a native collection: all schema objects of one kind, which can be read like a set. Names are resolved when the query starts. To use a schema object that the query itself creates, take the ref that creating it returns.',
  docs: {
    ref: {
      summary: 'The ref of the document with this id in a collection, whether it exists or not.',
      result: 'Ref',
      errors: [
        [
          'invalid argument',
          'the id is not a 64-bit integer, or the members of the collection are identified by name',
        ],
      ],
      example: 'Ref(Collection("notes"), "101")',
    },
    ...refsOf(NAMED, NO_SCOPE),
    ...refsOf(NATIVE, NO_SCOPE),
  },
};
