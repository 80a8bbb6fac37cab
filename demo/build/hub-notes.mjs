// The data of the demo's hub: two people, their notes, a role. It is created with Fauna's original driver at the first start; later starts
// change nothing.
import faunadb from 'faunadb';

const { Client, query: q } = faunadb;

/** @typedef {{ id: string; name: string; password: string; secretTitle: string }} Person */
/** What a page needs before anybody has logged in. @typedef {{ key: string; people: readonly Person[] }} HubNotes */

/** @type {readonly Person[]} */
const PEOPLE = [
  { id: '1', name: 'Ada', password: 'heron at dawn', secretTitle: 'Where the owls nest' },
  { id: '2', name: 'Ben', password: 'swift at dusk', secretTitle: 'A present for Ada' },
];

const people = q.Collection('people');
const notes = q.Collection('notes');

/** @param {import('faunadb').ExprArg} note @param {string} name @param {import('faunadb').ExprArg} [other] */
const field = (note, name, other = null) => q.Select(['data', name], note, other);
/** @param {import('faunadb').ExprArg} note */
const isOwn = (note) => q.Equals(field(note, 'owner'), q.CurrentIdentity());
/** @param {import('faunadb').ExprArg} note */
const isOpen = (note) => q.Or(field(note, 'shared', false), isOwn(note));
/** @param {string} name */
const kept = (name) => q.Equals(field(q.Var('old'), name), field(q.Var('new'), name));

const ROLE = {
  name: 'note_keeper',
  membership: [{ resource: people }],
  privileges: [
    { resource: people, actions: { read: true } },
    {
      resource: notes,
      actions: {
        read: q.Query(q.Lambda('ref', isOpen(q.Get(q.Var('ref'))))),
        create: q.Query(q.Lambda('note', isOwn(q.Var('note')))),
        // Notes that were written without an account keep their ids when they are copied to the hub.
        create_with_id: q.Query(q.Lambda(['note', 'ref'], isOwn(q.Var('note')))),
        // Anyone who may read a note may change it. Only its owner may change `shared`, and nobody may change its owner.
        write: q.Query(
          q.Lambda(
            ['old', 'new'],
            q.And(isOpen(q.Var('old')), kept('owner'), q.Or(isOwn(q.Var('old')), kept('shared'))),
          ),
        ),
        delete: q.Query(q.Lambda('ref', isOwn(q.Get(q.Var('ref'))))),
      },
    },
    { resource: q.Index('notes_by_owner'), actions: { read: true } },
  ],
};

/** @param {string} url @param {{ rootSecret: string; clientKey?: string }} secrets @returns {Promise<HubNotes>} */
export async function fillHub(url, { rootSecret, clientKey }) {
  const { hostname, port } = new URL(url);
  const clientOf = (/** @type {string} */ secret) =>
    new Client({ secret, scheme: 'http', domain: hostname, port: Number(port) });
  const admin = clientOf(rootSecret);
  try {
    await makeSchema(admin);
    const isGood = clientKey !== undefined && (await isKey(admin, clientKey));
    const key = isGood ? clientKey : await makeKey(admin);
    return { key, people: PEOPLE };
  } finally {
    await admin.close();
  }
}

/** @param {import('faunadb').Client} admin */
async function makeSchema(admin) {
  for (const name of ['people', 'notes'])
    await admin.query(q.If(q.Exists(q.Collection(name)), null, q.CreateCollection({ name })));
  for (const [field, unique] of /** @type {const} */ ([
    ['title', true],
    ['owner', false],
  ])) {
    const name = `notes_by_${field}`;
    const index = { name, source: notes, terms: [{ field: ['data', field] }], unique };
    await admin.query(q.If(q.Exists(q.Index(name)), null, q.CreateIndex(index)));
  }
  await admin.query(q.If(q.Exists(q.Ref(people, '1')), null, q.Do(...firstDocuments())));
  const role = q.Role(ROLE.name);
  await admin.query(q.If(q.Exists(role), q.Update(role, ROLE), q.CreateRole(ROLE)));
}

function firstDocuments() {
  const note = (
    /** @type {string} */ title,
    /** @type {string} */ owner,
    /** @type {boolean} */ shared,
  ) => q.Create(notes, { data: { title, shared, count: 0, owner: q.Ref(people, owner) } });
  return [
    ...PEOPLE.map(({ id, name, password }) =>
      q.Create(q.Ref(people, id), { credentials: { password }, data: { name } }),
    ),
    note('Herons at the mill pond', '1', true),
    note('Swifts over the station', '2', true),
    ...PEOPLE.map(({ id, secretTitle }) => note(secretTitle, id, false)),
    null,
  ];
}

/** @param {import('faunadb').Client} admin @param {string} secret @returns {Promise<boolean>} */
const isKey = (admin, secret) =>
  admin.query(q.KeyFromSecret(secret)).then(
    () => true,
    () => false,
  );

/** @param {import('faunadb').Client} admin @returns {Promise<string>} */
const makeKey = (admin) =>
  admin.query(q.Select('secret', q.CreateKey({ role: 'client', data: { name: 'the demo' } })));
