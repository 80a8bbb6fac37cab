/** All rows of a store in order, as lines of text: the basis of dumps, loads and moves. */
import { createHash, type Hash } from 'node:crypto';
import { type Key, keyOfBytes } from '../../src/codec/key.ts';
import { EVERY_KEY } from '../../src/codec/ranges.ts';
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import { SPACES, type ReadTx, type Row, type Space, type Store } from '../../src/store/port.ts';
import { HUB_ROWS } from '../store/hub-rows.ts';
import { OperationFault } from './operation-fault.ts';
import { rangeAfter, scan } from '../../src/store/scan.ts';

export interface StoredRow {
  readonly space: Space;
  readonly row: Row;
}

const PAGE_ROWS = 256;
/** Approximate, because documents may have 8 MiB each. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Rows that belong to the store itself, not to the data in it. */
const OWN = new Set<string>(
  [HUB_ROWS.epoch, HUB_ROWS.loading, HUB_ROWS.moved].map(({ space, key }) => `${space} ${key}`),
);

/**
 * Passes all rows of one snapshot to `take`, one page at a time, and waits for `take` each time. The snapshot stays open until
 * the end.
 * @param lastSeen transaction time of a commit that must be in the snapshot, in microseconds
 * @throws OperationFault when that commit is not there yet, or when the connection was lost; the rows passed by then are
 * incomplete
 */
export async function readAllRows(
  store: Store,
  take: (rows: readonly StoredRow[]) => Promise<void>,
  lastSeen = 0,
): Promise<void> {
  let hasStarted = false;
  await store.read(
    async (tx) => {
      if (hasStarted)
        throw new OperationFault('The connection to the database was lost: run the command again.');
      // The second fetch begins the snapshot. If a commit changes the first result before that, the body runs again, which is
      // harmless because no rows have been passed yet.
      await tx.fetch([HUB_ROWS.loading], []);
      const { rows } = await tx.fetch([HEAD], []);
      requireReached(lastSeen, headOf(rows[0]));
      hasStarted = true;
      for (const space of SPACES) await readSpace(tx, space, take);
    },
    { spaces: SPACES },
  );
}

function requireReached(lastSeen: number, head: number): void {
  if (head >= lastSeen) return;
  throw new OperationFault(
    `The last write here is from ${head}, so the one from ${lastSeen} is missing: run the command again when the standby has it, or name the primary.`,
  );
}

async function readSpace(
  tx: ReadTx,
  space: Space,
  take: (rows: readonly StoredRow[]) => Promise<void>,
): Promise<void> {
  for (let range = scan(space, EVERY_KEY, { limit: PAGE_ROWS }); ;) {
    const { ranges, truncation } = await tx.fetch([], [range], PAGE_BYTES);
    const [entries = []] = ranges;
    const rows = entries.flatMap(({ row }) => (row ? [{ space, row }] : []));
    await take(rows.filter((each) => !OWN.has(`${each.space} ${each.row.key}`)));
    const last = entries.at(-1);
    if (!last || (entries.length < PAGE_ROWS && !truncation)) return;
    range = rangeAfter(range, last);
  }
}

const base64 = (key: string): string => Buffer.from(key, 'latin1').toString('base64');
const keyIn = (text: string): Key => keyOfBytes(Buffer.from(text, 'base64').toString('latin1'));

/** The same row gives the same line in every kind of store. */
export function lineOf({ space, row: { key, entries, value } }: StoredRow): string {
  const shown = typeof value === 'string' ? value : { b: Buffer.from(value).toString('base64') };
  return JSON.stringify([space, base64(key), entries.map(base64).sort(), shown]);
}

/** @throws Error if the line is not a row */
export function rowIn(line: string): StoredRow {
  const [space, key, entries, value] = JSON.parse(line) as [
    string,
    string,
    readonly string[],
    string | { readonly b: string },
  ];
  const known = SPACES.find((each) => each === space);
  if (!known)
    throw new Error(`Unknown space '${space}': a newer build wrote the dump, or it is damaged.`);
  return {
    space: known,
    row: {
      key: keyIn(key),
      entries: entries.map(keyIn),
      value: typeof value === 'string' ? value : new Uint8Array(Buffer.from(value.b, 'base64')),
    },
  };
}

export interface Total {
  readonly rows: number;
  readonly sha256: string;
}

/** The number and the digest of lines, in their order. */
export class Tally {
  private readonly hash: Hash = createHash('sha256');
  rows = 0;

  add(line: string): void {
    this.rows += 1;
    this.hash.update(line).update('\n');
  }

  end(): Total {
    return { rows: this.rows, sha256: this.hash.digest('hex') };
  }
}

export async function tallyOf(
  store: Store,
  onRows: (count: number) => void = () => undefined,
): Promise<Total> {
  const tally = new Tally();
  await readAllRows(store, async (rows) => {
    for (const row of rows) tally.add(lineOf(row));
    onRows(tally.rows);
  });
  return tally.end();
}
