/** One person's copy of the notes in this browser. It is synced with the hub. */
import { openDatabase, q, type Database, type Sync } from '../../src/index.ts';
import { hubUrl, type Person } from './hub-place.ts';
import { NOTES, notesOf, PEOPLE } from './note-queries.ts';

const DATABASE = 'burrow-notes';

export interface NoteCopy {
  readonly person: Person;
  readonly db: Database;
  readonly sync: Sync;
}

/** Open copies, by person id. They stay open while the user visits other pages of the app. */
const copies = new Map<string, Promise<NoteCopy>>();

/** The copy that was opened last in this window. Undefined if nobody is logged in here. */
export const openHere = (): Promise<NoteCopy> | undefined => [...copies.values()].at(-1);

/** Opens the copy from an earlier login, without a new one. Undefined if there is none, or if the person has logged out. */
export async function openKnown(person: Person): Promise<NoteCopy | undefined> {
  const open = copies.get(person.id);
  if (open) return open;
  return remember(person, async (db) => {
    if (db.isLocked) return undefined;
    // Fails if this person has never logged in here: then there is no copy to continue with.
    return startSync(db, person).catch(() => undefined);
  });
}

/** @throws QueryError when the password is wrong, or when the person's first login here is without network */
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

/** Whether the copy holds all notes that this person may read, or only the person's own notes. */
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

/** Locks the copy, which stays in this browser: the password unlocks it again, also without network. */
export async function logOut({ person, db, sync }: NoteCopy): Promise<void> {
  copies.delete(person.id);
  await sync.stop();
  await db.signOut();
  await db.close();
}

/** Deletes the copy from this browser. @throws QueryError when writes have not been sent, unless `discardUnsent` is true */
export async function forgetCopy({ person, db }: NoteCopy, discardUnsent: boolean): Promise<void> {
  await db.signOut({ forget: true, discardUnsent });
  copies.delete(person.id);
}
