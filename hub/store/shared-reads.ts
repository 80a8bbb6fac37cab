/**
 * Rows that several readers want at the same time, fetched by one statement. A reader is never shown what was read before it asked:
 * who comes while a statement is under way waits for the next.
 */
import type { RowAddress } from '../../src/store/port.ts';
import type { SqlConnection, SqlDatabase, SqlResult } from '../sql/sql-client.ts';
import { rowsAt } from '../sql/statements.ts';

/** A connection that answers so late holds up no other reader. */
const LATE_MS = 20;
/** Readers that want more share nothing: others would wait for their bytes. */
export const SHARED_ROWS_MAX = 16;
const STATEMENT_ROWS_MAX = 256;

interface Wish {
  readonly addresses: readonly RowAddress[];
  readonly resolve: (result: SqlResult) => void;
  readonly reject: (reason: unknown) => void;
}

export class SharedReads {
  private readonly database: SqlDatabase;
  private readonly tenant: string;
  private waiting: Wish[] = [];
  private underWay = 0;

  constructor(database: SqlDatabase, tenant: string) {
    this.database = database;
    this.tenant = tenant;
  }

  /** The rows as a statement of their own would find them. @throws SqlFailure */
  rows(addresses: readonly RowAddress[]): Promise<SqlResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ addresses, resolve, reject });
      if (this.underWay === 0) this.next();
    });
  }

  private next(): void {
    if (this.waiting.length === 0) return;
    this.underWay += 1;
    let isPassed = false;
    const pass = (): void => {
      if (isPassed) return;
      isPassed = true;
      clearTimeout(late);
      this.underWay -= 1;
      if (this.underWay === 0) this.next();
    };
    const late = setTimeout(pass, LATE_MS);
    void this.fetch().finally(pass);
  }

  /** Takes who waits when there is a connection, not before. */
  private async fetch(): Promise<void> {
    let wishes: readonly Wish[] = [];
    let connection: SqlConnection | undefined;
    try {
      connection = await this.database.connect();
      wishes = this.take();
      if (wishes.length === 0) return;
      const { statement, placesOf } = together(this.tenant, wishes);
      const [found] = await connection.run([statement]);
      if (found) for (const wish of wishes) wish.resolve(partOf(found, placesOf(wish)));
    } catch (reason) {
      const failed = wishes.length > 0 ? wishes : this.take();
      for (const { reject } of failed) reject(reason);
    } finally {
      connection?.release();
    }
  }

  private take(): readonly Wish[] {
    let rows = 0;
    const end = this.waiting.findIndex(
      ({ addresses }) => (rows += addresses.length) > STATEMENT_ROWS_MAX,
    );
    return this.waiting.splice(0, end < 0 ? this.waiting.length : end);
  }
}

/** One statement for all, each row once, and where in it the rows of a wish are. */
function together(tenant: string, wishes: readonly Wish[]) {
  const places = new Map<string, number>();
  const all: RowAddress[] = [];
  const placeOf = (address: RowAddress): number => {
    const name = `${address.space} ${address.key}`;
    let place = places.get(name);
    if (place === undefined) {
      place = all.push(address) - 1;
      places.set(name, place);
    }
    return place;
  };
  const byWish = new Map(wishes.map((wish) => [wish, wish.addresses.map(placeOf)]));
  return { statement: rowsAt(tenant, all), placesOf: (wish: Wish) => byWish.get(wish) ?? [] };
}

/** As if it had been asked alone: rows are numbered by the place of their address in the wish. */
function partOf(result: SqlResult, places: readonly number[]): SqlResult {
  const byPlace = new Map(result.rows.map((row) => [Number(row[0]), row]));
  const rows = places.flatMap((place, n) => {
    const row = byPlace.get(place);
    return row ? [[String(n), ...row.slice(1)]] : [];
  });
  return { command: result.command, count: rows.length, rows };
}
