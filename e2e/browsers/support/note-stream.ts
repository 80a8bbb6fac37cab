/** An endless stream of creates. The list of acknowledged ones survives the page that made them. */
import type { Tab } from './tab.ts';

/** Number of creates in flight. */
const AT_ONCE = 4;

/**
 * Starts the stream, with ids from `first` on. Each acknowledged id is stored in `sessionStorage` in the same turn of the event loop, where
 * the tab's next page finds it. It is also sent to the test, which may be too late when the page is left.
 */
export const startNotes = (tab: Tab, first: number): Promise<void> =>
  tab.run(
    ({ first, atOnce }) => {
      const { q } = burrow;
      let next = first;
      const work = async (): Promise<void> => {
        for (;;) {
          const id = String(next++);
          await db
            .client()
            .query(q.Create(q.Ref(q.Collection('notes'), id), { data: { text: id.repeat(20) } }));
          const before = sessionStorage.getItem('acknowledged') ?? '';
          sessionStorage.setItem('acknowledged', `${before}${id} `);
          void tell(id);
        }
      };
      // Rejects, as intended, when the database is closed.
      for (let each = 0; each < atOnce; each++) void work().catch(() => undefined);
    },
    { first, atOnce: AT_ONCE },
  );

/** Resolves when `count` more creates have been acknowledged. */
export async function untilAcknowledged(tab: Tab, count: number): Promise<void> {
  await tab.untilTold(tab.told.length + count);
}

/** Ids that were acknowledged to pages of this tab since the last call. */
export const takeAcknowledged = (tab: Tab): Promise<readonly string[]> =>
  tab.run(() => {
    const ids = (sessionStorage.getItem('acknowledged') ?? '').split(' ');
    sessionStorage.removeItem('acknowledged');
    return ids.filter((id) => id !== '');
  });
