/** The answer of a copy lists what it lacks: collections and indexes that it read but does not keep completely. */
import { describe, expect, test } from 'vitest';
import { hexOfKey, indexPrefix, keySuffix, termsPrefix } from '../../../codec/key.ts';
import { answerFor, everything, type DeviceWorld } from '../../testing/device-world.ts';
import {
  createNote,
  firstNote,
  notes,
  NOTES_PART,
  notesPage,
  noteWorlds,
} from '../../testing/note-worlds.ts';
import { Changes } from '../../../http/changes.ts';
import type { CommitNotice } from '../../../engine/host.ts';
import type { SetAnswer, SetPart } from '../../protocol/sets.ts';

const byN = (n: number) => ({ match: { index: 'by_n' }, terms: n });
const count = (set: unknown) => ({ count: set });
const noteRef = (id: string) => ({ ref: notes, id });

const missingOf = async (device: DeviceWorld, query: unknown) => {
  const answer = await device.replica.read({ query: JSON.stringify(query), apiVersion: '4' });
  return answer.missing;
};

/** A copy that keeps a set of these parts, loaded as given. */
async function keeping(parts: readonly SetPart[], more: Partial<SetAnswer> = {}) {
  const world = await noteWorlds();
  const { device, fence, hub } = world;
  await device.replica.setSets([{ id: 'kept', query: '{}' }]);
  const sets = [answerFor('kept', parts, more)];
  await device.replica.apply(fence, { ...(await everything(hub.store)), sets });
  return world;
}

const prefixOf = (n: number): string =>
  hexOfKey(keySuffix(termsPrefix(0, 32_768, [n]), indexPrefix(0, 32_768)));

describe('answers that miss nothing', () => {
  test.each([
    ['a page of a collection that is kept', NOTES_PART, notesPage],
    ['its count', NOTES_PART, count({ documents: notes })],
    ['a match of an index of nothing else', NOTES_PART, count(byN(1))],
    ['a document that is there', NOTES_PART, { get: firstNote }],
    ['one that is not', NOTES_PART, { exists: noteRef('7') }],
    ['a match that is kept', { kind: 'index', index: 32_768, prefix: prefixOf(1) }, count(byN(1))],
    [
      'a document that is kept, and not there',
      { kind: 'document', collection: 1024, id: '7' },
      { exists: noteRef('7') },
    ],
    ['who asks', NOTES_PART, [{ current_identity: null }, { has_current_identity: null }]],
    ['what reads no document', NOTES_PART, { add: [1, 2] }],
    ['what names the schema only', NOTES_PART, { exists: notes }],
    ['a query that fails', NOTES_PART, { get: noteRef('7') }],
  ] as const)('%s', async (_name, part, query) => {
    const { device } = await keeping([part]);
    expect(await missingOf(device, query)).toEqual([]);
  });
});

describe('answers that miss collections or indexes', () => {
  const match: SetPart = { kind: 'index', index: 32_768, prefix: prefixOf(1) };
  test.each([
    ['all of a collection, where a part is kept', match, notesPage, [{ collection: 'notes' }]],
    ['a document that is not there', match, { exists: noteRef('7') }, [{ collection: 'notes' }]],
    ['another match of the same index', match, count(byN(2)), [{ index: 'by_n' }]],
    [
      'a match and a collection',
      match,
      [count(byN(2)), count({ documents: notes })],
      [{ index: 'by_n' }, { collection: 'notes' }],
    ],
    ['tokens', NOTES_PART, count({ documents: { tokens: null } }), [{ collection: 'tokens' }]],
    ['all keys', NOTES_PART, count({ keys: null }), [{ collection: 'keys' }]],
    ['a key', NOTES_PART, { exists: { ref: { keys: null }, id: '7' } }, [{ collection: 'keys' }]],
    ['a query that fails for it', match, { get: noteRef('7') }, [{ collection: 'notes' }]],
  ] as const)('%s', async (_name, part, query, missing) => {
    const { device } = await keeping([part]);
    expect(await missingOf(device, query)).toEqual(missing);
  });

  test('a set that is being loaded', async () => {
    const { device } = await keeping([NOTES_PART], { loaded: [''] });
    expect(await missingOf(device, notesPage)).toEqual([{ collection: 'notes' }]);
  });

  test('a set that the hub refuses', async () => {
    const error = { code: 'permission denied', description: 'no' };
    const { device } = await keeping([], { error });
    expect(await missingOf(device, notesPage)).toEqual([{ collection: 'notes' }]);
  });

  test('queries on a refused set fail with permission denied when its schema is gone', async () => {
    const { device, fence, hub } = await noteWorlds();
    const query = JSON.stringify({ union: [{ documents: notes }, byN(1)] });
    await device.replica.setSets([{ id: 'kept', query }]);
    const error = { code: 'permission denied', description: 'no' };
    const pulled = await everything(hub.store, {
      schema: { version: 'without', documents: [] },
      puts: [],
      sets: [answerFor('kept', [], { error })],
    });
    await device.replica.apply(fence, pulled);
    for (const asked of [count({ documents: notes }), count(byN(1)), { get: noteRef('1') }])
      expect(await device.see(asked)).toMatchObject({
        errors: [{ code: 'permission denied', position: expect.any(Array) }],
      });
    await expect(device.submit(createNote(7))).rejects.toThrow('permission denied');
    expect(await device.see(count({ documents: { collection: 'others' } }))).toMatchObject({
      errors: [{ code: 'invalid ref' }],
    });
  });

  test('get() of a document in the copy misses nothing, whichever set contains it', async () => {
    const { device } = await keeping([match]);
    expect(await missingOf(device, { get: { ref: notes, id: await idOfFirst(device) } })).toEqual(
      [],
    );
  });
});

describe('while a comparison by fingerprints is due', () => {
  const missing = [{ collection: 'notes' }];
  const whole = async (part: SetPart) => {
    const world = await keeping([part]);
    const { device, fence, hub } = world;
    const first = { ref: notes, id: await idOfFirst(device) };
    const told = async (what: { readonly check: boolean; readonly skipped?: boolean }) =>
      device.replica.apply(fence, { ...(await everything(hub.store)), puts: [], ...what });
    const compared = async () => {
      const since = (await device.replica.state())?.suspectSince;
      expect(since).toBeDefined();
      await device.replica.finishComparison(fence, since);
    };
    return { ...world, first, told, compared };
  };

  test('no answer is complete while changes were skipped, not even for a document in the copy', async () => {
    const { device, first, told, compared } = await whole(NOTES_PART);
    await told({ check: true, skipped: true });
    for (const query of [notesPage, count({ documents: notes }), { get: first }])
      expect(await missingOf(device, query)).toEqual(missing);
    expect(await missingOf(device, count(byN(1)))).toEqual([{ index: 'by_n' }]);
    await compared();
    for (const query of [notesPage, count(byN(1)), { get: first }])
      expect(await missingOf(device, query)).toEqual([]);
  });

  test('answers are complete although a comparison of permissions is due', async () => {
    const { device, first, told } = await whole(NOTES_PART);
    await told({ check: true });
    for (const query of [notesPage, { get: first }])
      expect(await missingOf(device, query)).toEqual([]);
  });

  test('no answer is complete at a hub with another history', async () => {
    const { device, fence, first, told, compared } = await whole(NOTES_PART);
    await device.replica.resubmitAll(fence, 'f'.repeat(32));
    for (const query of [notesPage, { get: first }])
      expect(await missingOf(device, query)).toEqual(missing);
    await told({ check: false });
    expect(await missingOf(device, notesPage)).toEqual(missing);
    await compared();
    expect(await missingOf(device, notesPage)).toEqual([]);
  });

  test('a set loaded over remains of another set is incomplete, and a set that was complete before stays complete', async () => {
    const { device, fence, hub, compared } = await whole(NOTES_PART);
    const match: SetPart = { kind: 'index', index: 32_768, prefix: prefixOf(1) };
    const [red, all] = [
      { id: 'red', query: 'red' },
      { id: 'all', query: 'all' },
    ];
    const pull = async (token: string, loaded: SetAnswer['loaded']) => {
      const after = (await device.replica.state())?.token;
      return device.replica.apply(fence, {
        ...(await everything(hub.store)),
        after,
        token,
        sets: [answerFor('red', [match]), answerFor('all', [NOTES_PART], { loaded })],
      });
    };
    await device.replica.setSets([{ id: 'kept', query: '{}' }, red]);
    await pull('t1', []);
    await device.replica.setSets([red, all]);
    await pull('t2', ['']);
    await pull('t3', [undefined]);
    expect(await missingOf(device, notesPage)).toEqual(missing);
    expect(await missingOf(device, count(byN(1)))).toEqual([]);
    expect(await missingOf(device, { get: firstNote })).toEqual(missing);
    await compared();
    expect(await missingOf(device, notesPage)).toEqual([]);
  });

  test('live queries run again when the comparison has finished', async () => {
    const { device, told, compared } = await whole(NOTES_PART);
    await told({ check: true, skipped: true });
    const { readSet } = await device.replica.read({
      query: JSON.stringify(notesPage),
      apiVersion: '4',
    });
    const notices: CommitNotice[] = [];
    device.engine.onCommit((notice) => notices.push(notice));
    await compared();
    expect(notices.some((notice) => new Changes([notice]).touches(readSet))).toBe(true);
  });
});

async function idOfFirst(device: DeviceWorld): Promise<string> {
  await device.submit(createNote(2));
  const id = await device.see({ select: ['ref', 'id'], from: { get: firstNote } });
  return String(id);
}
