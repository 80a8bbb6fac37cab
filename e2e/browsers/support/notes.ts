/** Opens and uses a database with a collection `notes` in a tab. */
import type { Tab } from './tab.ts';

/** Opens the database with this name. @returns how long that took, and the data loss that was reported, if any */
export const openNotes = (
  tab: Tab,
  name: string,
  durability: 'strict' | 'relaxed' = 'strict',
): Promise<{ readonly openMs: number; readonly loss: string | null }> =>
  tab.run(
    async ({ name, durability }) => {
      const started = performance.now();
      globalThis.db = await burrow.openDatabase(name, { durability });
      const openMs = Math.round(performance.now() - started);
      const { q } = burrow;
      const notes = q.Collection('notes');
      await db.client().query(q.If(q.Exists(notes), null, q.CreateCollection({ name: 'notes' })));
      return { openMs, loss: db.loss?.kind ?? null };
    },
    { name, durability },
  );

/**
 * Resolves when the tab holds the lease, so no other tab has the database open. From then on it assumes that an id which is not cached is
 * free, and validates that at the commit.
 */
export const untilAlone = (tab: Tab, name: string): Promise<void> =>
  tab.run(async (name) => {
    for (;;) {
      const { held = [] } = await navigator.locks.query();
      if (held.some((lock) => lock.name === `burrow:alone:${name}` && lock.mode === 'exclusive'))
        return;
      // Each query makes the tab try to get the lock again.
      await db.client().query(burrow.q.Exists(burrow.q.Collection('notes')));
    }
  }, name);

/** Creates a note. @returns `acknowledged`, or the code of the error */
export const createNote = (
  tab: Tab,
  note: { readonly id: string; readonly text: string },
): Promise<string> =>
  tab.run(async ({ id, text }) => {
    const { q } = burrow;
    return db
      .client()
      .query(q.Create(q.Ref(q.Collection('notes'), id), { data: { text } }))
      .then(
        () => 'acknowledged',
        (error: unknown) => (error instanceof burrow.QueryError ? error.code : String(error)),
      );
  }, note);

/** Texts of the notes with these ids; `null` for an id that does not exist. */
export const readTexts = (tab: Tab, ids: readonly string[]): Promise<readonly (string | null)[]> =>
  tab.run(async (ids) => {
    const { q } = burrow;
    const note = (id: string) => q.Ref(q.Collection('notes'), id);
    return Promise.all(
      ids.map((id) =>
        db
          .client()
          .query<string | null>(
            q.If(q.Exists(note(id)), q.Select(['data', 'text'], q.Get(note(id))), null),
          ),
      ),
    );
  }, ids);

export const verify = (tab: Tab): Promise<readonly string[]> => tab.run(() => db.verify());
