import { openDatabase, q, type Sync } from '../../../src/index.ts';
import type { Note, SyncContender, SyncOptions } from './contender.ts';

export class BurrowSync implements SyncContender {
  private readonly durability: 'strict' | 'relaxed';
  private opened: Sync | undefined;

  constructor(durability: 'strict' | 'relaxed') {
    this.durability = durability;
  }

  get sync(): Sync {
    if (!this.opened) throw new Error('It is not open.');
    return this.opened;
  }

  async open({ url, name, secret }: SyncOptions): Promise<void> {
    const database = await openDatabase(name, { durability: this.durability, hashCost: 10 });
    const sets = [q.Documents(q.Collection('notes'))];
    this.opened = await database.sync({ url, secret, sets });
    await this.opened.whenSynced();
  }

  async write(note: Note): Promise<void> {
    await this.sync.client.submit(create(note));
  }

  watch(room: string, onChange: (texts: readonly string[]) => void): Promise<void> {
    const set = q.Match(q.Index('notes_by_room'), room);
    const texts = q.Map(q.Paginate(set, { size: 64 }), (ref) =>
      q.Select(['data', 'text'], q.Get(ref)),
    );
    return new Promise((resolve, reject) => {
      this.sync.client.subscribe(texts, {
        next: ({ data }) => {
          resolve();
          onChange(data as readonly string[]);
        },
        error: reject,
      });
    });
  }
}

export const create = (note: Note) => q.Create(q.Collection('notes'), { data: { ...note } });
