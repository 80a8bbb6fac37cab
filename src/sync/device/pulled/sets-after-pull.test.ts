import { expect, test } from 'vitest';
import type { Pulled } from '../../protocol/messages.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { setsAfterPull } from './sets-after-pull.ts';

type Sets = ReplicaState['sets'];

const kept = (id: string): Sets[number] => ({
  id,
  query: id,
  parts: undefined,
  loaded: 'nothing',
  of: undefined,
  rows: 0,
  error: undefined,
});
const part = (collection: number) => [{ kind: 'collection', collection }] as const;

/** Applies a pull with this many documents. */
const after = (sets: Sets, documents: number, answers: Pulled['sets']): Sets =>
  setsAfterPull(
    { sets } as ReplicaState,
    { puts: Array.from({ length: documents }), sets: answers } as unknown as Pulled,
  );

const rowsOf = (sets: Sets) => sets.map(({ id, rows, of }) => `${id}: ${rows} of ${of}`);

test('documents of a pull are counted for the sets being loaded, not for sets that wait', () => {
  const notes = { id: 'notes', parts: part(1), of: 300, error: undefined };
  const tags = { id: 'tags', parts: part(2), of: 50, error: undefined };
  const refused = {
    id: 'secret',
    parts: [],
    loaded: [],
    of: undefined,
    error: { code: 'permission denied', description: 'No.' },
  };
  const first = after([kept('secret'), kept('notes'), kept('tags')], 100, [
    refused,
    { ...notes, loaded: ['81'] },
    { ...tags, loaded: [''] },
  ]);
  expect(rowsOf(first)).toEqual(['secret: 0 of undefined', 'notes: 100 of 300', 'tags: 0 of 50']);
  const second = after(first, 210, [
    { ...notes, loaded: [undefined] },
    { ...tags, loaded: ['82'] },
  ]);
  // It is unknown which of the documents belong to the second set: at most as many as it has.
  expect(rowsOf(second).slice(1)).toEqual(['notes: 300 of 300', 'tags: 50 of 50']);
  const gone = after(second, 0, [{ ...refused, id: 'notes' }]);
  expect(rowsOf(gone)[1]).toBe('notes: 0 of 300');
  const third = after(second, 40, [{ ...tags, loaded: [undefined] }]);
  expect(rowsOf(third).slice(1)).toEqual(['notes: 300 of 300', 'tags: 50 of 50']);
});
