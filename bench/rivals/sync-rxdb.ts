import { Subject } from 'rxjs';
import { createRxDatabase, type RxCollection, type RxReplicationPullStreamItem } from 'rxdb';
import { replicateRxCollection } from 'rxdb/plugins/replication';
import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie';
import type { Note, SyncContender, SyncOptions } from '../sync/page/contender.ts';

export const title = 'RxDB 17 (HTTP replication, Dexie storage; a plain server over PGlite)';

interface Stored extends Note {
  readonly id: string;
}

interface Checkpoint {
  readonly seq: number;
}

const SCHEMA = {
  version: 0,
  primaryKey: 'id',
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 40 },
    room: { type: 'string', maxLength: 40 },
    text: { type: 'string' },
  },
  required: ['id', 'room', 'text'],
  indexes: ['room'],
};

class RxSync implements SyncContender {
  private opened: RxCollection<Stored> | undefined;

  async open({ url, name }: SyncOptions): Promise<void> {
    const database = await createRxDatabase({ name, storage: getRxStorageDexie() });
    const { notes } = await database.addCollections({ notes: { schema: SCHEMA } });
    if (!notes) throw new Error('The collection was not made.');
    this.opened = notes;
    await replicate(notes, url);
  }

  async write(note: Note): Promise<void> {
    await this.notes().insert({ id: crypto.randomUUID(), ...note });
  }

  watch(room: string, onChange: (texts: readonly string[]) => void): Promise<void> {
    this.notes()
      .find({ selector: { room }, limit: 64 })
      .$.subscribe((found) => onChange(found.map(({ text }) => text)));
    return Promise.resolve();
  }

  private notes(): RxCollection<Stored> {
    if (!this.opened) throw new Error('It is not open.');
    return this.opened;
  }
}

/** Replicates as RxDB's documentation describes: pull and push over HTTP, and an event stream of what others have pushed. */
async function replicate(collection: RxCollection<Stored>, url: string): Promise<void> {
  const post = async (path: string, message: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(message);
    return (await fetch(`${url}${path}`, { method: 'POST', headers, body })).json();
  };
  const stream = new Subject<RxReplicationPullStreamItem<Stored, Checkpoint>>();
  const events = new EventSource(`${url}/events`);
  events.onmessage = ({ data }) =>
    stream.next(JSON.parse(String(data)) as RxReplicationPullStreamItem<Stored, Checkpoint>);
  events.onerror = () => stream.next('RESYNC');
  await new Promise((resolve) => {
    events.onopen = resolve;
  });
  const replication = replicateRxCollection<Stored, Checkpoint>({
    collection,
    replicationIdentifier: `notes at ${url}`,
    live: true,
    push: { handler: async (rows) => (await post('/push', rows)) as never },
    pull: {
      handler: async (checkpoint, limit) => (await post('/pull', { checkpoint, limit })) as never,
      stream$: stream,
    },
  });
  await replication.awaitInSync();
}

export const create = (): SyncContender => new RxSync();
