/** The rows and index entries that a write transaction stores at its end. */
import type { Key } from '../../src/codec/key.ts';
import { assert } from '../../src/errors.ts';
import {
  isEntrySpace,
  KeyTaken,
  type RowAddress,
  type Space,
  type WriteSet,
} from '../../src/store/port.ts';
import { Batch } from '../sql/sql-batch.ts';
import {
  SqlFailure,
  type SqlConnection,
  type SqlResult,
  type Statement,
} from '../sql/sql-client.ts';
import { bytesOf, unpackEntries } from '../sql/sql-values.ts';
import * as sql from '../sql/statements.ts';
import {
  COUNTS_DIFFER,
  singleStatementWrite,
  type SingleStatementWrite,
} from '../sql/single-statement-write.ts';

interface SortedWrites extends SingleStatementWrite {
  readonly deletes: readonly RowAddress[];
  /** Rows that are replaced or deleted and may have index entries. */
  readonly replaced: readonly RowAddress[];
}

interface Put extends sql.PlacedRow {
  readonly isNew: boolean;
}

/** Merges several `apply` calls: for each key, the last one wins. */
export class PendingWrites {
  private readonly puts = new Map<string, Put>();
  private readonly deletes = new Map<string, RowAddress>();

  get isEmpty(): boolean {
    return this.puts.size === 0 && this.deletes.size === 0;
  }

  add({ puts, deletes }: WriteSet): void {
    for (const address of deletes) {
      const name = nameOfRow(address);
      this.puts.delete(name);
      this.deletes.set(name, address);
    }
    for (const { space, row, isNew = false } of puts) {
      const name = nameOfRow({ space, key: row.key });
      const wasNew = this.puts.get(name)?.isNew === true;
      this.deletes.delete(name);
      this.puts.set(name, { space, row, isNew: isNew || wasNew });
    }
  }

  /** @returns undefined if existing rows must be read first */
  singleStatement(tenant: string, mark: Statement, lanes: number): Statement | undefined {
    const sorted = this.sorted();
    return sorted.replaced.length > 0
      ? undefined
      : singleStatementWrite(tenant, sorted, mark, lanes);
  }

  /**
   * Stores everything in one round trip, or two if index entries of earlier versions must be removed.
   * @param opening statements sent first in the same batch; `onOpened` checks their results
   * @throws KeyTaken, SqlFailure
   */
  async store(
    connection: SqlConnection,
    tenant: string,
    opening: readonly Statement[],
    onOpened: (results: readonly SqlResult[]) => void,
  ): Promise<void> {
    const { deletes, inserts, upserts, replaced, entries } = this.sorted();
    const batch = new Batch(opening);
    const addIf = (isNeeded: number, statement: () => Statement) =>
      isNeeded > 0 ? batch.add(statement()) : undefined;
    const read = addIf(replaced.length, () => sql.entriesAt(tenant, replaced));
    const inserted = addIf(inserts.length, () => sql.insertRows(tenant, inserts));
    const upserted = addIf(upserts.length, () => sql.upsertRows(tenant, upserts));
    const deleted = deletes.map((address) => batch.add(sql.deleteRow(tenant, address)));
    const entered = addIf(entries.length, () => sql.insertEntries(tenant, entries));
    await runUnlessTaken(batch, connection);
    onOpened(opening.map((_, i) => batch.result(i)));

    const former = read === undefined ? [] : formerRows(replaced, batch.result(read));
    const kept = new Set(entries.map(nameOfEntry));
    const formerEntries = former.flatMap((row) => row.entries);
    const removed = formerEntries.filter((entry) => !kept.has(nameOfEntry(entry)));
    if (inserted !== undefined) batch.expect(inserted, inserts.length);
    if (upserted !== undefined) batch.expect(upserted, upserts.length);
    const existing = new Set(former.map(({ n }) => n));
    for (const [i, number] of deleted.entries())
      batch.expect(number, existing.has(replaced.length - deletes.length + i) ? 1 : 0);
    if (entered !== undefined)
      batch.expect(entered, entries.length - (formerEntries.length - removed.length));
    if (removed.length > 0) await removeEntries(connection, tenant, removed);
  }

  private sorted(): SortedWrites {
    const puts = [...this.puts.values()];
    const deletes = [...this.deletes.values()];
    const inserts = puts.filter(({ isNew }) => isNew);
    const upserts = puts.filter(({ isNew }) => !isNew);
    const replaced = upserts.filter(({ space }) => isEntrySpace(space)).map(addressOf);
    const entries = puts.flatMap(({ space, row }) =>
      row.entries.map((entry) => ({ space, entry, key: row.key })),
    );
    return { deletes, inserts, upserts, replaced: [...replaced, ...deletes], entries };
  }
}

async function runUnlessTaken(batch: Batch, connection: SqlConnection): Promise<void> {
  try {
    await batch.run(connection);
  } catch (reason) {
    const isTaken =
      reason instanceof SqlFailure &&
      reason.code === UNIQUE_VIOLATION &&
      batch.nameAt(reason.at) === sql.INSERT_NEW_ROWS;
    throw isTaken ? new KeyTaken({ cause: reason }) : reason;
  }
}

/** @throws KeyTaken, SqlFailure */
export async function runSingleStatement(
  statement: Statement,
  connection: SqlConnection,
): Promise<void> {
  try {
    const [done] = await connection.run([statement]);
    assert(done?.count === 1, () => 'a write in a single statement returns one row');
  } catch (reason) {
    const { code } = reason instanceof SqlFailure ? reason : {};
    // Only inserts can violate a key: the other rows are upserted.
    if (code === UNIQUE_VIOLATION) throw new KeyTaken({ cause: reason });
    assert(code !== COUNTS_DIFFER, () => `${statement.name} changed other rows than it should`);
    throw reason;
  }
}

const UNIQUE_VIOLATION = '23505';

async function removeEntries(
  connection: SqlConnection,
  tenant: string,
  removed: readonly sql.EntryPlace[],
): Promise<void> {
  const batch = new Batch();
  const numbers = removed.map((entry) => batch.add(sql.deleteEntry(tenant, entry)));
  await batch.run(connection);
  for (const number of numbers) batch.expect(number, 1);
}

/** Returns the rows that exist: their index among the addresses, and their index entries. */
const formerRows = (
  addresses: readonly RowAddress[],
  { rows }: SqlResult,
): readonly { readonly n: number; readonly entries: readonly sql.EntryPlace[] }[] =>
  rows.flatMap(([n, packed]) => {
    const address = addresses[Number(n)];
    if (!address) return [];
    const entries = unpackEntries(bytesOf(packed ?? ''));
    return [{ n: Number(n), entries: entries.map((entry) => ({ ...address, entry })) }];
  });

const addressOf = ({ space, row }: Put): RowAddress => ({ space, key: row.key });

const nameOfRow = ({ space, key }: RowAddress): string => `${sql.spaceNumber(space)}${key}`;

/** A name that is unique for each pair of entry and key, whatever bytes they contain: the length separates the two. */
const nameOfEntry = ({ space, entry, key }: { space: Space; entry: Key; key: Key }): string =>
  `${sql.spaceNumber(space)}${entry.length}:${entry}${key}`;
