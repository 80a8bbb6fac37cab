/**
 * The medium of a packed store over IndexedDB: log and blocks are object stores. Each call is one native transaction, executed exactly
 * once.
 */
import { PACKED_LIMITS } from '../../../src/packed/limits.ts';
import type { IdRange } from '../../../src/packed/manifest.ts';
import type {
  BlockRange,
  LogPart,
  MediumSnapshot,
  Medium,
  StoredBlock,
} from '../../../src/packed/medium.ts';
import type { Durability } from '../../../src/store/port.ts';
import { birthPrefix } from '../birth-stamp.ts';
import type { Connection } from '../idb-connection.ts';
import { newerDatabase } from '../idb-failure.ts';
import { READ_ONLY, type ReconnectingConnection } from '../reconnecting-connection.ts';
import { dropping, type NativeTransaction } from '../native-transaction.ts';
import { mayHaveArrived } from '../row-transactions.ts';
import { doesCount, logPartOf, type StoredPart } from './stored-part.ts';

interface StoredBlockRow {
  readonly i: number;
  readonly v: Uint8Array;
}
type StoreName = 'commits' | 'blocks';

export class IdbMedium implements Medium {
  private readonly connection: ReconnectingConnection;

  constructor(connection: ReconnectingConnection) {
    this.connection = connection;
  }

  read(after: number | undefined, ranges: readonly BlockRange[]): Promise<MediumSnapshot> {
    // Covers only the object stores that are needed, so that reading the log does not wait for a transaction that writes blocks.
    const stores: StoreName[] = after === undefined ? [] : ['commits'];
    if (ranges.length > 0) stores.push('blocks');
    if (stores.length === 0) return Promise.resolve({ log: [], blocks: [] });
    return this.connection.run(async (connection) => {
      const tx = await this.connection.beginNative(connection, { ...READ_ONLY, stores });
      const [log, ...blocks] = await Promise.all([
        after === undefined ? [] : this.ourPartsAfter(tx, after),
        ...ranges.map((range) => blocksIn(tx, range)),
      ]);
      return { log, blocks };
    });
  }

  async append(
    parts: readonly Uint8Array[],
    expected: number,
    durability: Durability,
  ): Promise<boolean> {
    await this.connection.mark();
    const commit = this.connection.nextCommit();
    let isAgain = false;
    return this.connection.run(async (connection) => {
      if (isAgain) {
        const arrived = await this.hasArrived(connection, expected, commit);
        if (arrived !== 'no') return arrived === 'yes';
      }
      const tx = await this.beginAppend(connection, durability);
      isAgain = true;
      return (await this.addAll(tx, parts, expected, commit).catch(dropping(tx))) === expected;
    });
  }

  async appendAfter(
    after: number,
    make: (log: readonly LogPart[]) => Promise<readonly Uint8Array[] | undefined>,
    durability: Durability,
  ): Promise<number | undefined> {
    await this.connection.mark();
    const commit = this.connection.nextCommit();
    let attempted: number | undefined;
    return this.connection.run(async (connection) => {
      if (attempted !== undefined) {
        const arrived = await this.hasArrived(connection, attempted, commit);
        if (arrived !== 'no') return arrived === 'yes' ? attempted : undefined;
      }
      const tx = await this.beginAppend(connection, durability);
      const log = await this.ourPartsAfter(tx, after).catch(dropping(tx));
      const parts = await make(log).catch(dropping(tx));
      const first = (log.at(-1)?.number ?? after) + 1;
      if (!parts) {
        tx.drop();
        return undefined;
      }
      attempted = first;
      const number = await this.addAll(tx, parts, first, commit).catch(dropping(tx));
      // Nobody else appends during this transaction, numbers only grow, and the last record is never deleted. So this is not the log that
      // was read before.
      if (number !== undefined && number !== first) this.connection.lost();
      return number;
    });
  }

  putBlocks(blocks: readonly StoredBlock[]): Promise<void> {
    return this.change(['blocks'], (tx) => {
      for (const { id, bytes } of blocks)
        void tx.change((store) => store.put({ i: id, v: bytes }), 'blocks');
    });
  }

  trim(logThrough: number, blocks: readonly IdRange[]): Promise<void> {
    const stores: StoreName[] = blocks.length > 0 ? ['commits', 'blocks'] : ['commits'];
    return this.change(stores, (tx) => {
      // The stamp has a lower number and must stay.
      if (logThrough >= FIRST)
        void tx.change((store) => store.delete(IDBKeyRange.bound(FIRST, logThrough)), 'commits');
      for (const { first, last } of blocks)
        void tx.change((store) => store.delete(IDBKeyRange.bound(first, last)), 'blocks');
    });
  }

  /** Does nothing: the owner of the connection closes it. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private async change(
    stores: readonly StoreName[],
    change: (tx: NativeTransaction) => void,
  ): Promise<void> {
    await this.connection.mark();
    await this.connection.change({ stores, durability: 'relaxed' }, async (tx) => change(tx));
  }

  private beginAppend(connection: Connection, durability: Durability): Promise<NativeTransaction> {
    const plan = { stores: ['commits'], mode: 'readwrite', durability } as const;
    return this.connection.beginNative(connection, plan);
  }

  /** @throws Refusal when a newer version of the app wrote the part, or another database has replaced this one */
  private async ourPartsAfter(tx: NativeTransaction, after: number): Promise<readonly LogPart[]> {
    const parts = await partsAfter(tx, after);
    return parts.map((part) => {
      // It does not matter who wrote a part that is void.
      if (doesCount(part)) this.requireOurs(part);
      return logPartOf(part);
    });
  }

  /**
   * Adds parts to the log and commits. Returns the number of the first part; undefined if nothing was added. If the number differs from
   * `expected`, the parts are void: a single part is committed together with its request, and states the number under which it is valid;
   * several parts are rolled back.
   */
  private async addAll(
    tx: NativeTransaction,
    parts: readonly Uint8Array[],
    expected: number,
    commit: string,
  ): Promise<number | undefined> {
    const isOne = parts.length === 1;
    const adds = parts.map(
      (v) => (store: IDBObjectStore) =>
        store.add({ v, c: commit, ...(isOne && { e: expected }) } satisfies Omit<StoredPart, 'n'>),
    );
    const adding = tx.changeAll(adds, 'commits');
    if (!adding) {
      tx.drop();
      return undefined;
    }
    const committed = isOne ? tx.commitAtOnce() : undefined;
    const number = Number((await adding)[0]);
    if (committed) await committed;
    else if (number === expected) await tx.commit();
    else tx.drop();
    return number;
  }

  /**
   * Called when the connection was lost during a commit: whether `number` was assigned, and to this commit (`yes`) or to another one.
   * @throws Refusal `storage_unavailable` when the number was assigned, but the part has already been deleted
   */
  private async hasArrived(
    connection: Connection,
    number: number,
    commit: string,
  ): Promise<'yes' | 'no' | 'another was first'> {
    const tx = await this.connection.beginNative(connection, { ...READ_ONLY, stores: ['commits'] });
    const [part, later] = await Promise.all([
      tx.answer<StoredPart | undefined>((store) => store.get(number), 'commits'),
      tx.count('commits', IDBKeyRange.lowerBound(number, true)),
    ]);
    if (part) return part.c === commit ? 'yes' : 'another was first';
    if (later > 0) throw mayHaveArrived();
    return 'no';
  }

  /** @throws Refusal when a newer version of the app wrote the part, or another database has replaced this one */
  private requireOurs({ c }: StoredPart): void {
    const { birth } = this.connection;
    if (c.startsWith(birthPrefix(birth))) return;
    const isNewer = c.startsWith(`${birth.birth}.`);
    this.connection.requireBirth(isNewer ? { ...birth, format: birth.format + 1 } : undefined);
    throw newerDatabase();
  }
}

/** The lowest number of a part of the log. */
const FIRST = 1;

/** Most reads find fewer new parts. */
const PARTS_AT_FIRST = 4;

/**
 * Reads in steps of about `rangeBytes`. The number of parts for the next step is estimated from those read so far, because the parts of a
 * log have similar sizes.
 */
async function partsAfter(tx: NativeTransaction, after: number): Promise<readonly StoredPart[]> {
  const parts: StoredPart[] = [];
  let bytes = 0;
  for (let wanted = PARTS_AT_FIRST; ;) {
    const range = IDBKeyRange.lowerBound(parts.at(-1)?.n ?? after, true);
    const count = wanted;
    const found = await tx.answer<StoredPart[]>((store) => store.getAll(range, count), 'commits');
    for (const part of found) {
      parts.push(part);
      // A part that a newer version of the app wrote may have no `v`.
      const { v }: Partial<StoredPart> = part;
      bytes += v?.byteLength ?? 0;
    }
    if (found.length < wanted) return parts;
    wanted = Math.max(1, Math.ceil((PACKED_LIMITS.rangeBytes * parts.length) / (bytes + 1)));
  }
}

async function blocksIn(
  tx: NativeTransaction,
  { first, last, limit }: BlockRange,
): Promise<readonly StoredBlock[]> {
  if (first === last) {
    const row = await tx.answer<StoredBlockRow | undefined>((store) => store.get(first), 'blocks');
    return row ? [{ id: row.i, bytes: row.v }] : [];
  }
  const range = IDBKeyRange.bound(first, last);
  const rows = await tx.answer<StoredBlockRow[]>((store) => store.getAll(range, limit), 'blocks');
  return rows.map(({ i, v }) => ({ id: i, bytes: v }));
}
