/** Many writes of Burrow at once, which are queued while there is no network. */
import { q, type Sync } from '../../../src/index.ts';
import { create } from './burrow.ts';
import type { Note } from './contender.ts';

/** Submits all writes without waiting in between. Returns the time in ms until the last one is stored. */
export async function submitMany(sync: Sync, notes: readonly Note[]): Promise<number> {
  const begun = performance.now();
  await Promise.all(notes.map((note) => sync.client.submit(create(note))));
  return performance.now() - begun;
}

/** Increments a counter in each document. Returns the time in ms until the last write is stored. */
export async function updateMany(sync: Sync, ids: readonly string[]): Promise<number> {
  const begun = performance.now();
  await Promise.all(ids.map((id) => sync.client.submit(countOn(id))));
  return performance.now() - begun;
}

function countOn(id: string) {
  const ref = q.Ref(q.Collection('notes'), id);
  const count = q.Add(q.Select(['data', 'count'], q.Get(ref)), 1);
  return q.Update(ref, { data: { count } });
}

/** Number of writes by state. */
export async function pushMarks(sync: Sync): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { state } of await sync.writes.list()) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** The queries as wire JSON. */
export const queriesOf = (notes: readonly Note[]): readonly string[] =>
  notes.map((note) => JSON.stringify(create(note)));
