/** A stream of creates that does not end, of which what was acknowledged survives its page. */
import type { Tab } from './tab.ts';

/** How many creates are under way at once. */
const AT_ONCE = 4;

/**
 * Starts it, with ids from `first` on. Each acknowledged one is put down in `sessionStorage` in the same turn, where the next page of the tab
 * finds it, and told to the test, which may be too late for a page that goes.
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
      // Fails when the database is closed, and is meant to.
      for (let each = 0; each < atOnce; each++) void work().catch(() => undefined);
    },
    { first, atOnce: AT_ONCE },
  );

/** Resolves when so many more have been acknowledged than now. */
export async function untilAcknowledged(tab: Tab, count: number): Promise<void> {
  await tab.untilTold(tab.told.length + count);
}

/** What the pages of this tab were acknowledged since this was asked last. */
export const takeAcknowledged = (tab: Tab): Promise<readonly string[]> =>
  tab.run(() => {
    const ids = (sessionStorage.getItem('acknowledged') ?? '').split(' ');
    sessionStorage.removeItem('acknowledged');
    return ids.filter((id) => id !== '');
  });
