import { expect, test } from 'vitest';
import { coll, create, doc, EngineWorld, obj, type Query } from '../testing/engine-world.ts';
import { at, equal, on, privilege, v } from '../testing/role-notes.ts';

const WRITES: Readonly<Record<string, (ref: Query) => Query>> = {
  update: (ref) => ({ update: ref, params: obj({ data: obj({ n: 2 }) }) }),
  replace: (ref) => ({ replace: ref, params: obj({ data: obj({ n: 2 }) }) }),
  delete: (ref) => ({ delete: ref }),
};

/** A world with note 1 (open) and note 2 (not open), and a key with a role that has these actions on notes. */
async function worldWith(actions: Readonly<Record<string, Query>>) {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  await w.ask(create(doc('notes', 1), { open: true }));
  await w.ask(create(doc('notes', 2), { open: false }));
  const privileges = [privilege(coll('notes'), actions)];
  await w.ask({ create_role: obj({ name: 'caller', privileges }) });
  const { secret } = await w.document({ create_key: obj({ role: { role: 'caller' } }) });
  return { w, key: { secret } };
}

const isOpen = on('r', equal(at(['data', 'open'], { get: v('r') }), true));
/** A predicate on the document before the write, which is the first argument. */
const wasOpen = { query: { lambda: ['old', 'new'], expr: at(['data', 'open'], v('old')) } };

test.each([
  ['no privileges', {}, 404],
  ['the right to read open documents', { read: isOpen }, 404],
  [
    'the right to read and write open documents',
    { read: isOpen, write: wasOpen, delete: isOpen },
    403,
  ],
  ['the right to write open documents', { write: wasOpen, delete: isOpen }, 403],
  ['the right to create only', { create: true, create_with_id: true }, 404],
])('with %s, a hidden document looks like a missing one', async (_, actions, expected) => {
  const { w, key } = await worldWith(actions);
  for (const write of Object.values(WRITES)) {
    const answers = [];
    for (const id of [2, 3, 2, 4]) {
      const { status, body } = await w.answer([write(doc('notes', id))], key);
      expect(status, body).toBe(expected);
      answers.push(body);
    }
    expect(new Set(answers).size).toBe(1);
  }
});

test('a caller who can read gets an error with position for a missing document', async () => {
  const { w, key } = await worldWith({ read: true });
  const missing = { code: 'instance not found', status: 404 };
  for (const [name, write] of Object.entries(WRITES)) {
    const position = name === 'delete' ? [] : [name];
    for (const caller of [key, undefined])
      expect(await w.fault(write(doc('notes', 3)), caller)).toMatchObject({ ...missing, position });
    expect(await w.fault(write(doc('notes', 2)), key)).toMatchObject({ status: 403, position: [] });
  }
});

test('writes to deleted documents, other collections and native documents do not reveal what exists (P3)', async () => {
  const { w, key } = await worldWith({ write: wasOpen, delete: isOpen });
  await w.ask({ create_collection: obj({ name: 'other' }) });
  await w.ask(create(doc('other', 1), {}));
  await w.ask({ delete: doc('notes', 2) });
  await w.ask({ create_database: obj({ name: 'there' }) });
  const { ref: tokenThere } = await w.document({
    create: { tokens: null },
    params: obj({ instance: doc('notes', 1) }),
  });
  const status = async (query: Query) => (await w.fault(query, key)).status;
  for (const write of Object.values(WRITES)) {
    expect(await status(write(doc('notes', 2)))).toBe(403);
    for (const ref of [doc('other', 1), doc('other', 2), { database: 'there' }, tokenThere])
      expect(await status(write(ref)), JSON.stringify(ref)).toBe(404);
  }
  expect(await w.ask({ update: doc('notes', 1), params: obj({}) }, key)).toMatchObject({});
});
