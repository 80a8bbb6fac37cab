/** One person's copy of the notes in this browser, kept in step with the hub. */
import { openDatabase, q, type Database, type Sync } from '../../src/index.ts';
import { hubUrl, type Person } from './hub-place.ts';
import { NOTES, notesOf, PEOPLE } from './note-queries.ts';

const DATABASE = 'burrow-notes';

export interface NoteCopy {
  readonly person: Person;
  readonly db: Database;
  readonly sync: Sync;
}

/** They stay open while other pages of the app are looked at. */
const copies = new Map<string, Promise<NoteCopy>>();

/** The copy that was last opened in this window; undefined: nobody is logged in here. */
export const openHere = (): Promise<NoteCopy> | undefined => [...copies.values()].at(-1);

/** The copy of this person from an earlier login, which needs no new one. Undefined: there is none, or they logged out. */
export async function openKnown(person: Person): Promise<NoteCopy | undefined> {
  const open = copies.get(person.id);
  if (open) return open;
  return remember(person, async (db) => {
    if (db.isLocked) return undefined;
    // Without a login, and without anybody who ever logged in, there is nothing to go on from.
    return startSync(db, person).catch(() => undefined);
  });
}

/** @throws QueryError when the password is wrong, or the first time is without network */
export async function logIn(
  person: Person,
  { password, key }: { readonly password: string; readonly key: string },
): Promise<NoteCopy> {
  const user = q.Ref(q.Collection('people'), person.id);
  const copy = await remember(person, async (db) => {
    if (db.isLocked) await db.unlock({ user, password });
    return startSync(db, person, { user, password, key });
  });
  if (!copy) throw new Error('There is no copy after logging in.');
  return copy;
}

const startSync = (
  db: Database,
  person: Person,
  login?: {
    readonly user: ReturnType<typeof q.Ref>;
    readonly password: string;
    readonly key: string;
  },
): Promise<Sync> => db.sync({ url: hubUrl(person), sets: setsOf(person), ...(login && { login }) });

const keptPlace = ({ id }: Person): string => `burrow-sync keeps ${id}`;

/** Whether the copy is to hold all notes that this person may see, and not their own alone. */
export const keepsAll = (person: Person): boolean =>
  localStorage.getItem(keptPlace(person)) !== 'own';

const setsOf = (person: Person) => [keepsAll(person) ? NOTES : notesOf(person.id), PEOPLE];

export async function keepNotes({ person, sync }: NoteCopy, which: 'all' | 'own'): Promise<void> {
  localStorage.setItem(keptPlace(person), which);
  await sync.setSets(setsOf(person));
}

async function remember(
  person: Person,
  start: (db: Database) => Promise<Sync | undefined>,
): Promise<NoteCopy | undefined> {
  const open = await copies.get(person.id);
  const db = open?.db ?? (await openDatabase(DATABASE, { identity: person.name }));
  try {
    const sync = await start(db);
    if (!sync) {
      await db.close();
      return undefined;
    }
    const copy = { person, db, sync };
    copies.set(person.id, Promise.resolve(copy));
    for (const end of ['closed', 'locked'] as const)
      db.addEventListener(end, () => copies.delete(person.id));
    return copy;
  } catch (error) {
    copies.delete(person.id);
    await db.close();
    throw error;
  }
}

/** The copy stays here, locked: the password opens it again, also without network. */
export async function logOut({ person, db, sync }: NoteCopy): Promise<void> {
  copies.delete(person.id);
  await sync.stop();
  await db.signOut();
  await db.close();
}

/** Nothing of it stays here. @throws QueryError when writes have not been sent, unless they are to go too */
export async function forgetCopy({ person, db }: NoteCopy, discardUnsent: boolean): Promise<void> {
  await db.signOut({ forget: true, discardUnsent });
  copies.delete(person.id);
}
