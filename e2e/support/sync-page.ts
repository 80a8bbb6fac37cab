/** Functions with which tests use sync in a page. */
import type { Page } from '@playwright/test';
import type * as Burrow from '../../src/index.ts';

declare global {
  var sync: Burrow.Sync;
  /** All states of `sync` so far, in order. */
  var states: string[];
  /** Texts of all notes, by the last result of a live query. */
  var shown: string[];
  /** All results of that live query. */
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

/** Opens a database, syncs it with all notes, and subscribes to them. @throws if it cannot be opened */
export async function openSynced(page: Page, synced: SyncedPage): Promise<void> {
  const code = await failureToSync(page, synced);
  if (code !== undefined) throw new Error(`${synced.name ?? 'The copy'} was not opened: ${code}`);
}

/** Like `openSynced()`. @returns the code of the error, or undefined */
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

/** Submits a new note. @returns the id of the write @throws if the write is not accepted on the device */
export async function submitNote(page: Page, text: string, more: object = {}): Promise<string> {
  const { id, code } = await tryNote(page, text, more);
  if (id === undefined) throw new Error(`The note ${text} was not taken: ${code}`);
  return id;
}

/** @returns the code of the error with which a new note is not accepted, or undefined */
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
