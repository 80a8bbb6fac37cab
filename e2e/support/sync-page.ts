/** What tests of sync do in a page. */
import type { Page } from '@playwright/test';
import type * as Burrow from '../../src/index.ts';

declare global {
  var sync: Burrow.Sync;
  /** States of `sync`, as they came. */
  var states: string[];
  /** Texts of all notes, as a live query last told them. */
  var shown: string[];
  /** Each answer of that live query. */
  var answers: string[][];
}

export interface SyncedPage {
  readonly url: string;
  readonly secret?: string | undefined;
  readonly login?:
    | { readonly email: string; readonly password: string; readonly key: string }
    | undefined;
  readonly name?: string;
}

/** Opens a database, keeps it in step with all notes, and follows them. @throws when it could not be opened so */
export async function openSynced(page: Page, synced: SyncedPage): Promise<void> {
  const code = await failureToSync(page, synced);
  if (code !== undefined) throw new Error(`${synced.name ?? 'The copy'} was not opened: ${code}`);
}

/** As `openSynced()`. @returns the code of what went wrong */
export const failureToSync = (
  page: Page,
  { url, secret, login, name = 'field-notes' }: SyncedPage,
): Promise<string | undefined> =>
  page.evaluate(
    async ({ url, secret, login, name }) => {
      const { q } = burrow;
      globalThis.db = await burrow.openDatabase(name, { hashCost: 10 });
      const user = login && q.Match(q.Index('users_by_email'), login.email);
      try {
        globalThis.sync = await db.sync({
          url,
          ...(secret !== undefined && { secret }),
          ...(login && user && { login: { user, password: login.password, key: login.key } }),
          sets: [q.Documents(q.Collection('notes'))],
        });
      } catch (error) {
        const { code, message } = error as { code?: string; message?: string };
        return code ?? String(message);
      }
      globalThis.states = [sync.state];
      sync.addEventListener('state', ({ detail }) => void states.push(detail.state));
      globalThis.shown = [];
      globalThis.answers = [];
      const texts = q.Map(q.Paginate(q.Documents(q.Collection('notes')), { size: 1000 }), (ref) =>
        q.Select(['data', 'text'], q.Get(ref)),
      );
      sync.client.subscribe(texts, {
        next: ({ data }) => {
          globalThis.shown = (data as string[]).toSorted();
          answers.push(shown);
        },
        error: (error) => {
          globalThis.shown = [`error ${(error as { code?: string }).code}`];
        },
      });
      return undefined;
    },
    { url, secret, login, name },
  );

/** A new note. @returns id of the write @throws when it was not taken */
export async function submitNote(page: Page, text: string, more: object = {}): Promise<string> {
  const { id, code } = await tryNote(page, text, more);
  if (id === undefined) throw new Error(`The note ${text} was not taken: ${code}`);
  return id;
}

/** @returns why a new note was not taken, as a code */
export const failureToSubmit = async (page: Page, text: string): Promise<string | undefined> =>
  (await tryNote(page, text, {})).code;

const tryNote = (
  page: Page,
  text: string,
  more: object,
): Promise<{ readonly id?: string; readonly code?: string }> =>
  page.evaluate(
    async ({ text, more }) => {
      const { q } = burrow;
      try {
        const { id } = await sync.client.submit(
          q.Create(q.Collection('notes'), { data: { text, ...more } }),
        );
        return { id };
      } catch (error) {
        const { code, message } = error as { code?: string; message?: string };
        return { code: code ?? String(message) };
      }
    },
    { text, more },
  );

export const shownIn = (page: Page): Promise<string[]> => page.evaluate(() => shown);
export const stateOf = (page: Page): Promise<string> => page.evaluate(() => sync.state);

/** Ids and states of writes. */
export const writesIn = (page: Page, states?: readonly Burrow.WriteState[]) =>
  page.evaluate(async (states) => {
    const found = await sync.writes.list(states && { states });
    return found.map((write) => ({
      id: write.id,
      state: write.state,
      code: write.state === 'refused' ? write.error.code : undefined,
      replaces: write.replaces,
      query: write.query,
    }));
  }, states);
