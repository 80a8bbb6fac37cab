import PouchDB from 'pouchdb-browser';
import type { Note, SyncContender, SyncOptions } from '../sync/page/contender.ts';

export const title = 'PouchDB 9 (live replication, express-pouchdb over LevelDB)';

interface Stored extends Note {
  readonly _id: string;
}

class PouchSync implements SyncContender {
  private opened: PouchDB.Database<Stored> | undefined;

  async open({ url, name }: SyncOptions): Promise<void> {
    const local = new PouchDB<Stored>(name);
    const remote = new PouchDB<Stored>(`${url}/db/notes`);
    await local.sync(remote);
    local.sync(remote, { live: true, retry: true });
    this.opened = local;
  }

  async write(note: Note): Promise<void> {
    await this.local().put({ _id: crypto.randomUUID(), ...note });
  }

  /** PouchDB's feed of changes contains the changed document, so no query is executed again. */
  watch(room: string, onChange: (texts: readonly string[]) => void): Promise<void> {
    this.local()
      .changes<Stored>({ since: 'now', live: true, include_docs: true })
      .on('change', ({ doc }) => {
        if (doc?.room === room) onChange([doc.text]);
      });
    return Promise.resolve();
  }

  private local(): PouchDB.Database<Stored> {
    if (!this.opened) throw new Error('It is not open.');
    return this.opened;
  }
}

export const create = (): SyncContender => new PouchSync();
