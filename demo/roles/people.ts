/** Three people who look at the same notes, and the roles that define what each of them may do. */
import {
  q,
  type Arg,
  type Client,
  type Database,
  type Expr,
  type Privilege,
  type RoleParams,
} from '../../src/index.ts';

export interface Person {
  readonly id: string;
  readonly name: string;
  /** Short name of the role. */
  readonly role: 'admin' | 'editor' | 'reader';
  readonly roleName: string;
  /** What the role grants, as a sentence for the page. */
  readonly may: string;
  /** Acts as this person: the server key impersonates the person's document and so has that person's roles. */
  readonly client: Client;
}

const PEOPLE = [
  { id: '1', name: 'Ada', role: 'admin', may: 'Reads, changes and deletes every note.' },
  {
    id: '2',
    name: 'Ed',
    role: 'editor',
    may: 'Reads published notes and his own. Changes and deletes only his own.',
  },
  { id: '3', name: 'Rita', role: 'reader', may: 'Reads published notes.' },
] as const;

const roleName = (role: Person['role']): string => `notes_${role}`;
const people = q.Collection('people');
const notes = q.Collection('notes');
const person = (id: string): Expr => q.Ref(people, id);
const ADA = person('1');
const ED = person('2');

const NOTES: readonly {
  readonly text: string;
  readonly owner: Expr;
  readonly published: boolean;
}[] = [
  { text: 'A heron stands at the mill pond.', owner: ED, published: true },
  { text: 'Two kingfishers, perhaps three. To be checked.', owner: ED, published: false },
  { text: 'Where the owls nest. Not for everybody.', owner: ADA, published: false },
  { text: 'The swifts are back, ten days early.', owner: ADA, published: true },
];

const isPublished = (note: Arg): Expr => q.Select(['data', 'published'], note, false);
const isOwn = (note: Arg): Expr =>
  q.Equals(q.Select(['data', 'owner'], note, null), q.CurrentIdentity());
const ofDocument = (predicate: (note: Expr) => Expr): Expr =>
  q.Query(q.Lambda('ref', predicate(q.Get(q.Var('ref')))));

const ACTIONS: Readonly<Record<Person['role'], NonNullable<Privilege['actions']>>> = {
  admin: { read: true, write: true, create: true, delete: true },
  editor: {
    read: ofDocument((note) => q.Or(isPublished(note), isOwn(note))),
    create: q.Query(q.Lambda('note', isOwn(q.Var('note')))),
    // The owner is checked before and after the write, so a note cannot be given to somebody else.
    write: q.Query(q.Lambda(['old', 'new'], q.And(isOwn(q.Var('old')), isOwn(q.Var('new'))))),
    delete: ofDocument(isOwn),
  },
  reader: { read: ofDocument(isPublished) },
};

const roleParams = (role: Person['role']): RoleParams => ({
  name: roleName(role),
  privileges: [
    { resource: notes, actions: ACTIONS[role] },
    { resource: people, actions: { read: true } },
  ],
  membership: [
    {
      resource: people,
      predicate: q.Query(
        q.Lambda('ref', q.Equals(q.Select(['data', 'role'], q.Get(q.Var('ref'))), role)),
      ),
    },
  ],
});

/** Creates missing collections, people, notes and roles. The notes are created only at the first start. */
export async function ensurePeople(root: Client): Promise<void> {
  for (const name of ['people', 'notes']) {
    await root.query(q.If(q.Exists(q.Collection(name)), null, q.CreateCollection({ name })));
  }
  const isNew = q.Not(q.Exists(ADA));
  await root.query(
    q.If(
      isNew,
      q.Do(
        null,
        ...PEOPLE.map(({ id, name, role }) => q.Create(person(id), { data: { name, role } })),
        ...NOTES.map((data, at) => q.Create(q.Ref(notes, String(at + 1)), { data })),
        null,
      ),
      null,
    ),
  );
  for (const { role } of PEOPLE) {
    await root.query(q.If(q.Exists(q.Role(roleName(role))), null, q.CreateRole(roleParams(role))));
  }
}

/** @param serverSecret secret of the app's server key, which may impersonate any document */
export const peopleOf = (db: Database, serverSecret: string): readonly Person[] =>
  PEOPLE.map((each) => ({
    ...each,
    roleName: roleName(each.role),
    client: db.client({ secret: `${serverSecret}:@doc/people/${each.id}` }),
  }));

/** Resets the notes to their initial state. */
export async function startAgain(server: Client): Promise<void> {
  await server.query(
    q.Do(
      q.Foreach(
        q.Select('data', q.Paginate(q.Documents(notes), { size: 1000 })),
        q.Lambda('ref', q.Delete(q.Var('ref'))),
      ),
      ...NOTES.map((data, at) => q.Create(q.Ref(notes, String(at + 1)), { data })),
      null,
    ),
  );
}
