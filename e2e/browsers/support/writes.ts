/** Queries that a tab makes one after the other, each of which creates documents, and what is left of them. */
import type { Tab } from './tab.ts';

export interface Writes {
  /** Documents per query. */
  readonly size: number;
  /** Number of queries in flight. */
  readonly atOnce: number;
}

/** Each acknowledged query is reported to the test before the next one starts: a query that was not reported was in flight. */
export const startWriting = (tab: Tab, { size, atOnce }: Writes, first: number): Promise<void> =>
  tab.run(
    ({ size, atOnce, first }) => {
      const { q } = burrow;
      const documents = Array.from({ length: size }, (_, n) => n);
      let next = first;
      const work = async (): Promise<never> => {
        for (;;) {
          const query = next++;
          await db.client().query(
            q.Foreach(documents, (n) =>
              q.Create(q.Ref(q.Collection('notes'), q.Add(query * 1000 + 1, n)), {
                data: { query, text: 'x'.repeat(100) },
              }),
            ),
          );
          await tell(query);
        }
      };
      for (let each = 0; each < atOnce; each++) void work();
    },
    { size, atOnce, first },
  );

/** Number of documents that each query has created. */
export async function readQueries(tab: Tab): Promise<ReadonlyMap<number, number>> {
  const ids = await tab.run(async () => {
    const { q } = burrow;
    const ids: string[] = [];
    await db
      .client()
      .paginate(q.Documents(q.Collection('notes')), { size: 10_000 })
      .each((page) => {
        for (const ref of page) ids.push((ref as { readonly id: string }).id);
      });
    return ids;
  });
  const queries = new Map<number, number>();
  for (const id of ids) {
    const query = Math.floor((Number(id) - 1) / 1000);
    queries.set(query, (queries.get(query) ?? 0) + 1);
  }
  return queries;
}
