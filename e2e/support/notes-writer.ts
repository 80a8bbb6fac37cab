/** A stream of writes of which each query is known by its number: what was acknowledged, what is there. */
import type { Page } from '@playwright/test';
import type { LossReport } from '../../src/index.ts';
import type { BrowserProfile } from './browser-profile.ts';

export interface WritingPlan {
  readonly kind: string;
  /** Documents per query. */
  readonly size: number;
  /** Queries under way at once. */
  readonly atOnce: number;
  readonly durability: 'strict' | 'relaxed';
}

export interface Acknowledged {
  /** Numbers of queries, over all rounds. */
  queries: Set<number>;
  /** Numbers up to here are taken. */
  started: number;
}

export interface Found {
  readonly loss: LossReport | undefined;
  /** Documents there are, by the number of their query. */
  readonly notes: ReadonlyMap<number, number>;
  /** How many documents the index holds. */
  readonly byIndex: number;
  readonly problems: readonly string[];
}

/** Opens the database of that name, with a collection `notes` and its index `notes_by_round`. */
export async function openNotes(
  page: Page,
  name: string,
  durability: WritingPlan['durability'] = 'strict',
): Promise<LossReport | undefined> {
  return page.evaluate(
    async ({ name, durability }) => {
      const { q } = burrow;
      globalThis.db = await burrow.openDatabase(name, { durability });
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
    },
    { name, durability },
  );
}

/** How many documents the index tells of a round. */
export const countRound = (page: Page, round: number | string): Promise<number> =>
  page.evaluate(
    (round) =>
      db.client().query(burrow.q.Count(burrow.q.Match(burrow.q.Index('notes_by_round'), round))),
    round,
  );

let bindings = 0;

/**
 * Writes until the page is no more.
 * @returns the numbers acknowledged in this round, growing
 */
export async function startWriting(
  page: Page,
  { size, atOnce }: WritingPlan,
  acknowledged: Acknowledged,
): Promise<ReadonlySet<number>> {
  const written = new Set<number>();
  const binding = `acknowledge${++bindings}`;
  await page.exposeFunction(binding, (query: number) => {
    acknowledged.queries.add(query);
    written.add(query);
  });
  const first = acknowledged.started;
  // Numbers of different rounds are far apart: what was started and never heard of is not used again.
  acknowledged.started += 10_000;
  await page.evaluate(
    ({ size, atOnce, binding, first }) => {
      const { q } = burrow;
      const told = Reflect.get(globalThis, binding) as (query: number) => Promise<void>;
      const documents = Array.from({ length: size }, (_, n) => n);
      let next = first;
      const work = async (): Promise<never> => {
        for (;;) {
          const query = next++;
          await db.client().query(
            q.Foreach(documents, (n) =>
              q.Create(q.Ref(q.Collection('notes'), q.Add(query * 1000 + 1, n)), {
                data: { round: 'written', query, text: 'x'.repeat(100) },
              }),
            ),
          );
          // Known to the test before the next one begins: so what is not known was in flight.
          await told(query);
        }
      };
      for (let each = 0; each < atOnce; each++) void work();
    },
    { size, atOnce, binding, first },
  );
  return written;
}

/** What a browser started anew finds. */
export async function readNotes(
  profile: BrowserProfile,
  name: string,
  durability: WritingPlan['durability'],
): Promise<Found> {
  const page = await profile.openTab();
  const loss = await openNotes(page, name, durability);
  const found = await page.evaluate(async () => {
    const { q } = burrow;
    const admin = db.client();
    const set = q.Documents(q.Collection('notes'));
    const ids: string[] = [];
    await admin.paginate(set, { size: 10_000 }).each((page) => {
      for (const ref of page) ids.push((ref as { readonly id: string }).id);
    });
    const byIndex = await admin.query(q.Count(q.Match(q.Index('notes_by_round'), 'written')));
    const problems = await db.verify();
    if (db.loss) await db.acknowledgeLoss();
    await db.close();
    return { ids, byIndex, problems };
  });
  await page.close();
  const notes = new Map<number, number>();
  for (const id of found.ids) {
    const query = Math.floor((Number(id) - 1) / 1000);
    notes.set(query, (notes.get(query) ?? 0) + 1);
  }
  return { loss, notes, byIndex: found.byIndex, problems: found.problems };
}
