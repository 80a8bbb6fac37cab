/**
 * Whether a database is locked: a mark in its head row. Every transaction of an engine without the lease reads that row, so a tab that
 * missed the message, because it was frozen, finds the mark too. See docs/decisions/0006-shared-devices.md.
 */
import { HEAD } from '../../src/engine/transactions.ts';
import { Refusal } from '../../src/errors.ts';
import { deleted } from '../store/stored-database.ts';
import type { ReadTx, Row, RowAddress, Store, WriteTx } from '../../src/store/port.ts';

/** `forgotten`: the database is being deleted; whoever reads this state completes the deletion. */
export type LockState = 'open' | 'locked' | 'forgotten';

const NO_COMMIT = '{"ts":0}';
const META = { spaces: ['meta'] } as const;

/**
 * The state when the store was opened, or a later one. A stale read is enough: tabs that change the lock broadcast it, and the first
 * query reads the row again.
 */
export async function readLock(store: Store): Promise<LockState> {
  const asOpened = { ...META, allowsStale: true };
  return store.read(async (tx) => lockIn((await tx.fetch([HEAD], [])).rows[0]), asOpened);
}

/** Once this resolves, the state is durable, and transactions of all tabs read it. */
export async function writeLock(store: Store, state: LockState): Promise<void> {
  await store.write(
    async (tx) => {
      const { rows } = await tx.fetch([HEAD], []);
      const row = withLock(rows[0] ?? { key: HEAD.key, entries: [], value: NO_COMMIT }, state);
      tx.apply({ puts: [{ space: HEAD.space, row }], deletes: [] });
    },
    { ...META, durability: 'strict' },
  );
}

export const locked = (): Refusal =>
  new Refusal(
    'locked',
    'The database is locked because its user has signed out. Unlock it with db.unlock({ secret }) or db.unlock({ user, password }).',
  );

/** A store that rejects every transaction that reads a mark. */
export const guardedStore = (
  store: Store,
  onMark: (state: Exclude<LockState, 'open'>) => void,
): Store =>
  watchedStore(store, () => ({
    onHead(row) {
      const state = lockIn(row);
      if (state === 'open') return;
      onMark(state);
      throw state === 'locked' ? locked() : deleted();
    },
    asPut: (row) => row,
  }));

/**
 * The store of a locked database, used only for logins. Engines write head rows without the mark, so this store adds the mark to them
 * again.
 */
export const lockedStore = (store: Store): Store =>
  watchedStore(store, () => {
    // A transaction that has not read the head holds the lease: no other tab can have unlocked the database.
    let state: LockState = 'locked';
    return {
      onHead: (row) => (state = lockIn(row)),
      asPut: (row) => withLock(row, state),
    };
  });

/** What one transaction does when it reads or writes the head row. */
interface HeadWatch {
  onHead(row: Row | undefined): void;
  asPut(row: Row): Row;
}

const isHead = ({ space, key }: RowAddress): boolean => space === HEAD.space && key === HEAD.key;

function watchedStore(store: Store, makeWatch: () => HeadWatch): Store {
  const reading = (tx: ReadTx, watch: HeadWatch): ReadTx => ({
    async fetch(rows, ...more) {
      const found = await tx.fetch(rows, ...more);
      const at = rows.findIndex(isHead);
      if (at >= 0) watch.onHead(found.rows[at]);
      return found;
    },
  });
  const writing = (tx: WriteTx, watch: HeadWatch): WriteTx => ({
    ...reading(tx, watch),
    apply({ puts, deletes }) {
      const marked = puts.map((put) => {
        const { space, row } = put;
        return isHead({ space, key: row.key }) ? { ...put, row: watch.asPut(row) } : put;
      });
      tx.apply({ puts: marked, deletes });
    },
  });
  return {
    read: (body, options) => store.read((tx) => body(reading(tx, makeWatch())), options),
    write: (body, options) => store.write((tx) => body(writing(tx, makeWatch())), options),
    close: () => store.close(),
  };
}

/** Nearly all head rows have no mark. Those are not parsed. */
function lockIn(row: Row | undefined): LockState {
  if (typeof row?.value !== 'string' || !row.value.includes('"lock":')) return 'open';
  const { lock } = membersOf(row);
  return lock === 'locked' || lock === 'forgotten' ? lock : 'open';
}

function withLock(row: Row, state: LockState): Row {
  const { lock: _before, ...head } = membersOf(row);
  return { ...row, value: JSON.stringify(state === 'open' ? head : { ...head, lock: state }) };
}

const membersOf = (row: Row | undefined): Readonly<Record<string, unknown>> =>
  typeof row?.value === 'string' ? (JSON.parse(row.value) as Record<string, unknown>) : {};
