/** The hub of the simulation: notes with photos, who may read them, and a file store that can be restored from an older backup. */
import { sha256 } from '../../../engine/testing/sha256.ts';
import type { Engine } from '../../../engine/engine.ts';
import { coll, obj, ROOT } from '../../../engine/testing/engine-world.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { BlobStore } from '../../hub/files/blob-store.ts';
import { FileHub } from '../../hub/files/file-hub.ts';
import type { FileName, FilePlace } from '../../protocol/files.ts';
import { HubWorld } from '../hub-world.ts';
import { may, role } from '../things.ts';
import { when } from '../simulation/sim-schema.ts';
import { KEPT_MS, LOST, type FileRun } from './file-run.ts';

interface Blob {
  readonly bytes: Uint8Array;
  readonly putMs: number;
}

/** A note as stored at the hub. */
export interface StoredNote {
  /** Number of the user. */
  readonly owner: number;
  readonly open: boolean;
  readonly photo: FileName | undefined;
}

export const mayRead = ({ open, owner }: StoredNote, user: number): boolean =>
  open || owner === user;

export class FileHubWorld {
  readonly world: HubWorld;
  readonly files: FileHub;
  readonly blobs = new Map<string, Blob>();
  private readonly run: FileRun;
  private copy: ReadonlyMap<string, Blob> | undefined;
  private restores = 0;

  private constructor(run: FileRun, world: HubWorld) {
    this.run = run;
    this.world = world;
    this.files = new FileHub({
      engine: this.engineOfFiles(),
      blobs: this.blobStore(),
      fileBytes: SYNC_LIMITS.fileBytes,
      clock: () => world.now,
      random: (count) => run.chance.bytes(count),
      sha256,
      rootSecret: ROOT,
    });
  }

  static async open(run: FileRun): Promise<FileHubWorld> {
    const world = await HubWorld.open();
    for (const name of ['users', 'notes']) await world.ask({ create_collection: obj({ name }) });
    const mine = {
      equals: [
        { select: ['data', 'owner'], from: { get: { var: 'r' } } },
        { current_identity: null },
      ],
    };
    const open = { select: ['data', 'open'], from: { get: { var: 'r' } }, default: false };
    const byOwner = { query: { lambda: 'r', expr: { or: [open, mine] } } };
    const actions = {
      create: true,
      create_with_id: true,
      write: true,
      delete: true,
      read: byOwner,
    };
    await world.ask(role(may(actions, coll('notes'))));
    return new FileHubWorld(run, world);
  }

  /** The epoch as devices see it. It changes with each restore. */
  get epoch(): string {
    const isDeaf = this.run.mutant === 'a restored hub has the same epoch';
    return isDeaf ? 'the first' : String(this.restores);
  }

  /** Removes files without references. Returns how many. */
  async sweep(): Promise<number> {
    const before = this.run.clockwork.now - KEPT_MS;
    if (this.run.mutant !== 'files with references are removed') return this.files.sweep(before);
    for (const [key, { putMs }] of this.blobs) if (putMs < before) this.blobs.delete(key);
    return 1;
  }

  keepCopy(): void {
    this.copy = new Map(this.blobs);
  }

  /** Returns false if there is no backup. */
  restore(): boolean {
    if (!this.copy) return false;
    this.blobs.clear();
    for (const [key, blob] of this.copy)
      this.blobs.set(key, { ...blob, putMs: this.run.clockwork.now });
    this.restores += 1;
    return true;
  }

  async note(id: string): Promise<StoredNote | undefined> {
    const ref = { ref: coll('notes'), id };
    const got = { select: ['data'], from: { get: ref }, default: null };
    const answer = await this.world.answer(when({ exists: ref }, got, null));
    const { resource } = JSON.parse(answer.body) as { resource?: Record<string, unknown> | null };
    if (!resource) return undefined;
    const owner = (resource['owner'] as { '@ref': { id: string } })['@ref'].id;
    const photo = resource['photo'] as FileName | undefined;
    return { owner: Number(owner) - 1, open: resource['open'] === true, photo };
  }

  /** Whether a note has changed so recently that an answer may have been decided before the change. */
  async hasJustChanged(id: string): Promise<boolean> {
    const events = { events: { ref: coll('notes'), id } };
    const answer = await this.world.answer({ paginate: events, size: 1000 });
    const { resource } = JSON.parse(answer.body) as { resource?: { data: { ts: number }[] } };
    const last = resource?.data.at(-1)?.ts ?? 0;
    return this.world.now - last < 10_000_000;
  }

  putUnchecked({ file, home: [, id] }: FilePlace, n: number, bytes: Uint8Array): void {
    const hash = file.slice('file:'.length);
    const folder = [...this.blobs.keys()].find((key) => key.includes(`/${id}/${hash}/`));
    if (folder === undefined) return;
    const key = `${folder.slice(0, folder.lastIndexOf('/') + 1)}${n}`;
    this.blobs.set(key, { bytes, putMs: this.run.clockwork.now });
  }

  /** The engine of a hub that sometimes stops before it has announced a file. */
  private engineOfFiles(): Pick<Engine, 'transactions'> {
    const { transactions } = this.world.engine;
    const write: typeof transactions.write = (body) => {
      if (this.run.mutant === 'a complete file is not announced')
        return transactions.write((input) => ({ ...body(input), ts: undefined }));
      if (!this.run.chance.is(this.run.loss)) return transactions.write(body);
      this.run.count('hub stops before it announces');
      return Promise.reject(LOST);
    };
    const read: typeof transactions.read = (...given) => transactions.read(...given);
    return { transactions: { ...transactions, read, write } };
  }

  private blobStore(): BlobStore {
    const { blobs } = this;
    const pass = (): Promise<void> => this.run.clockwork.sleep(this.run.chance.next() * 20);
    return {
      put: async (key, bytes) => {
        const { restores } = this;
        await pass();
        // Writes that began before a restore are lost with it.
        if (restores === this.restores)
          blobs.set(key, { bytes: bytes.slice(), putMs: this.run.clockwork.now });
      },
      get: async (key) => {
        await pass();
        return blobs.get(key)?.bytes;
      },
      async *list(prefix) {
        await pass();
        for (const [key, { putMs }] of [...blobs].sort(([a], [b]) => (a < b ? -1 : 1)))
          if (key.startsWith(prefix)) yield { key, putMs };
      },
      delete: async (keys) => {
        await pass();
        for (const key of keys) blobs.delete(key);
      },
    };
  }
}
