/** The step in which the copy replaces the rows: one upgrade transaction, which does everything or nothing. */
import { Refusal } from '../../../src/errors.ts';
import type { CopiedRows } from '../../../src/packed/copy-rows.ts';
import { HOT_SPACES, type Row, type RowAddress } from '../../../src/store/port.ts';
import { isStamp, STAMP_KEY, type Stamp } from '../birth-stamp.ts';
import { openDexie } from '../idb-connection.ts';
import { refusalOf, thrownFor, TransactionFailure } from '../idb-failure.ts';
import { PACKED_FORMAT, PACKED_LAYOUT } from '../layouts.ts';

/** What was copied. If the rows no longer match it, the flip is aborted. */
export interface Copy {
  readonly birth: string;
  readonly rows: CopiedRows;
  readonly head: Row | undefined;
}

export interface FlipOptions {
  readonly headAt: RowAddress;
  readonly openDeadlineMs?: number;
}

/** @throws Refusal; the rows then stay authoritative, as before */
export async function flipLayout(
  name: string,
  copy: Copy,
  { headAt, openDeadlineMs }: FlipOptions,
): Promise<void> {
  let refused: { readonly reason: unknown } | undefined;
  const flip = (tx: IDBTransaction): void => {
    readState(tx, headAt, (found) => {
      try {
        if (!isCopied(found, copy)) throw changed();
        stampPacked(tx, found);
      } catch (reason) {
        refused = { reason };
        tx.abort();
      }
    });
  };
  try {
    const dexie = await openDexie(name, PACKED_LAYOUT, openDeadlineMs, flip);
    dexie.close();
  } catch (reason) {
    const cause = refused ? refused.reason : reason;
    throw cause instanceof TransactionFailure ? thrownFor(cause) : refusalOf(cause);
  }
}

interface Found {
  /** Stamps of the log, the blocks and the object stores that do not change. */
  readonly stamps: readonly unknown[];
  readonly head: unknown;
  readonly counts: readonly unknown[];
}

interface ReadRequest {
  readonly result: unknown;
  addEventListener(type: 'success', listener: () => void): void;
}

/** Sends all requests at once: Dexie uses the upgrade transaction too, so nothing may be awaited in it. */
function readState(tx: IDBTransaction, headAt: RowAddress, take: (found: Found) => void): void {
  const requests: readonly ReadRequest[] = [
    ...PACKED_LAYOUT.stamped.map(({ name }) => tx.objectStore(name).get(STAMP_KEY)),
    tx.objectStore(headAt.space).get(headAt.key),
    ...HOT_SPACES.map((space) => tx.objectStore(space).count(rowsOnly())),
  ];
  let waiting = requests.length;
  for (const request of requests)
    request.addEventListener('success', () => {
      waiting -= 1;
      if (waiting > 0) return;
      const results = requests.map(({ result }) => result);
      const stamps = results.splice(0, PACKED_LAYOUT.stamped.length);
      const [head, ...counts] = results;
      take({ stamps, head, counts });
    });
}

/** The key range of all rows of an object store, without its stamp. */
export const rowsOnly = (): IDBKeyRange => IDBKeyRange.lowerBound('');

function isCopied({ stamps, head, counts }: Found, copy: Copy): boolean {
  return (
    stamps.every((stamp) => has(stamp, 'birth', copy.birth)) &&
    counts.every((count, i) => count === copy.rows[HOT_SPACES[i] ?? 'meta']) &&
    (head === undefined ? copy.head === undefined : has(head, 'v', copy.head?.value))
  );
}

export const has = (found: unknown, name: string, value: unknown): boolean =>
  typeof found === 'object' && found !== null && Reflect.get(found, name) === value;

function stampPacked(tx: IDBTransaction, { stamps }: Found): void {
  for (const [i, { name }] of PACKED_LAYOUT.stamped.entries()) {
    const stamp = stamps[i];
    if (!isStamp(stamp)) continue;
    const packed: Stamp = { ...stamp, format: PACKED_FORMAT };
    tx.objectStore(name).put(name === 'meta' ? { ...packed, formerRows: true } : packed);
  }
}

/** @param why the database was not moved, up to the comma */
export const staysRows = (why: string): string =>
  `${why}, so it stays stored as rows. This is tried again when it is opened next.`;

const changed = (): Refusal =>
  new Refusal(
    'storage_unavailable',
    staysRows('The database was changed while it was being moved into blocks'),
  );
