/** What the code in README.md and docs/ takes for granted. A name that a piece of code declares is its own. */
import type * as burrow from 'burrowdb';

declare global {
  /** Variables of the build of an example. */
  interface ImportMeta {
    readonly env: Readonly<Record<string, string>>;
  }
  const openDatabase: typeof burrow.openDatabase;
  const forgetDatabase: typeof burrow.forgetDatabase;
  const salvageDatabase: typeof burrow.salvageDatabase;
  const listDatabases: typeof burrow.listDatabases;
  const q: typeof burrow.q;
  /** Opened before. */
  const db: burrow.Database;
  /** With the root secret. */
  const admin: burrow.Client;
  /** Of that database. */
  const sync: burrow.Sync;
  /** URL of a hub, and the secret of a client key there. */
  const hub: string;
  const key: string;
  /** What a user has typed. */
  const email: string;
  const password: string;
  const title: string;
  /** A note, and the title that the user saw. */
  const ref: burrow.DocumentRef<{ title: string; count: number }>;
  const seen: string;
}
