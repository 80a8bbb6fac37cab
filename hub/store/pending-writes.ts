/** What a write transaction stores at its end. */
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
import { COUNTS_DIFFER, writeAtOnce, type WholeWrite } from '../sql/write-at-once.ts';

interface Sorted extends WholeWrite {
  readonly deletes: readonly RowAddress[];
  /** Rows that are replaced or deleted, and may have entries. */
  readonly looked: readonly RowAddress[];
}

interface Put extends sql.PlacedRow {
  readonly isNew: boolean;
}

/** What several `apply` calls come to: of each key the last word. */
export class PendingWrites {
  private readonly puts = new Map<string, Put>();
  private readonly deletes = new Map<string, RowAddress>();

  get isEmpty(): boolean {
    return this.puts.size === 0 && this.deletes.size === 0;
  }

  add({ puts, deletes }: WriteSet): void {
    for (const address of deletes) {
      const place = placeOf(address);
      this.puts.delete(place);
      this.deletes.set(place, address);
    }
    for (const { space, row, isNew = false } of puts) {
      const place = placeOf({ space, key: row.key });
      const wasNew = this.puts.get(place)?.isNew === true;
      this.deletes.delete(place);
      this.puts.set(place, { space, row, isNew: isNew || wasNew });
    }
  }

  /** Undefined: what is there must be looked at first. */
  atOnce(tenant: string, mark: Statement, lanes: number): Statement | undefined {
    const sorted = this.sorted();
    return sorted.looked.length > 0 ? undefined : writeAtOnce(tenant, sorted, mark, lanes);
  }

  /**
   * One round trip; a second one when entries of former versions must go.
   * @param opening goes out in front of it; its results are looked at by `onOpened`
   * @throws KeyTaken, SqlFailure
   */
  async store(
    connection: SqlConnection,
    tenant: string,
    opening: readonly Statement[],
    onOpened: (results: readonly SqlResult[]) => void,
  ): Promise<void> {
    const { deletes, fresh, others, looked, places } = this.sorted();
    const batch = new Batch(opening);
    const addIf = (isWanted: number, statement: () => Statement) =>
      isWanted > 0 ? batch.add(statement()) : undefined;
    const look = addIf(looked.length, () => sql.entriesAt(tenant, looked));
    const inserted = addIf(fresh.length, () => sql.insertRows(tenant, fresh));
    const upserted = addIf(others.length, () => sql.upsertRows(tenant, others));
    const deleted = deletes.map((address) => batch.add(sql.deleteRow(tenant, address)));
    const entered = addIf(places.length, () => sql.insertEntries(tenant, places));
    await runUnlessTaken(batch, connection);
    onOpened(opening.map((_, i) => batch.result(i)));

    const there = look === undefined ? [] : rowsThere(looked, batch.result(look));
    const wanted = new Set(places.map(nameOf));
    const had = there.flatMap(({ places }) => places);
    const gone = had.filter((place) => !wanted.has(nameOf(place)));
    if (inserted !== undefined) batch.expect(inserted, fresh.length);
    if (upserted !== undefined) batch.expect(upserted, others.length);
    const isThere = new Set(there.map(({ n }) => n));
    for (const [i, number] of deleted.entries())
      batch.expect(number, isThere.has(looked.length - deletes.length + i) ? 1 : 0);
    if (entered !== undefined) batch.expect(entered, places.length - (had.length - gone.length));
    if (gone.length > 0) await remove(connection, tenant, gone);
  }

  private sorted(): Sorted {
    const puts = [...this.puts.values()];
    const deletes = [...this.deletes.values()];
    const fresh = puts.filter(({ isNew }) => isNew);
    const others = puts.filter(({ isNew }) => !isNew);
    const replaced = others.filter(({ space }) => isEntrySpace(space)).map(addressOf);
    const places = puts.flatMap(({ space, row }) =>
      row.entries.map((entry) => ({ space, entry, key: row.key })),
    );
    return { deletes, fresh, others, looked: [...replaced, ...deletes], places };
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
export async function runWhole(statement: Statement, connection: SqlConnection): Promise<void> {
  try {
    const [done] = await connection.run([statement]);
    assert(done?.count === 1, () => 'a write that is one statement answers with one row');
  } catch (reason) {
    const { code } = reason instanceof SqlFailure ? reason : {};
    // Its other rows are replaced where they are.
    if (code === UNIQUE_VIOLATION) throw new KeyTaken({ cause: reason });
    assert(code !== COUNTS_DIFFER, () => `${statement.name} changed other rows than it was to`);
    throw reason;
  }
}

const UNIQUE_VIOLATION = '23505';

async function remove(
  connection: SqlConnection,
  tenant: string,
  gone: readonly sql.EntryPlace[],
): Promise<void> {
  const batch = new Batch();
  const numbers = gone.map((place) => batch.add(sql.deleteEntry(tenant, place)));
  await batch.run(connection);
  for (const number of numbers) batch.expect(number, 1);
}

/** The rows that are there: their place among those asked for, and their entries. */
const rowsThere = (
  looked: readonly RowAddress[],
  { rows }: SqlResult,
): readonly { readonly n: number; readonly places: readonly sql.EntryPlace[] }[] =>
  rows.flatMap(([n, packed]) => {
    const address = looked[Number(n)];
    if (!address) return [];
    const entries = unpackEntries(bytesOf(packed ?? ''));
    return [{ n: Number(n), places: entries.map((entry) => ({ ...address, entry })) }];
  });

const addressOf = ({ space, row }: Put): RowAddress => ({ space, key: row.key });

const placeOf = ({ space, key }: RowAddress): string => `${sql.spaceNumber(space)}${key}`;

/** Tells (entry, key) pairs apart whatever bytes they hold. */
const nameOf = ({ space, entry, key }: { space: Space; entry: Key; key: Key }): string =>
  `${sql.spaceNumber(space)}${entry.length}:${entry}${key}`;
