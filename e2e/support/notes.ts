/** A database with a collection of notes, which are grouped into rounds. */
import type { Page } from '@playwright/test';
import type { LossReport } from '../../src/index.ts';

/** Opens the database with this name, and creates the collection `notes` and its index `notes_by_round` if they do not exist. */
export async function openNotes(page: Page, name: string): Promise<LossReport | undefined> {
  return page.evaluate(async (name) => {
    const { q } = burrow;
    globalThis.db = await burrow.openDatabase(name);
    const admin = db.client();
    if (await admin.query(q.Exists(q.Index('notes_by_round')))) return db.loss;
    await admin.query(
      q.If(q.Exists(q.Collection('notes')), null, q.CreateCollection({ name: 'notes' })),
    );
    await admin.query(
      q.CreateIndex({
        name: 'notes_by_round',
        source: q.Collection('notes'),
        terms: [{ field: ['data', 'round'] }],
      }),
    );
    return db.loss;
  }, name);
}

/** Number of documents of a round, by the index. */
export const countRound = (page: Page, round: number | string): Promise<number> =>
  page.evaluate(
    (round) =>
      db.client().query(burrow.q.Count(burrow.q.Match(burrow.q.Index('notes_by_round'), round))),
    round,
  );
