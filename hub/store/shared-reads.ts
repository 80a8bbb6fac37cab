/**
 * Rows that several readers request at the same time are fetched by one statement. A reader never gets data that was read before
 * its request: a request that comes while two statements are in flight waits for the next one.
 */
import type { RowAddress } from '../../src/store/port.ts';
import type { SqlConnection, SqlDatabase, SqlResult } from '../sql/sql-client.ts';
import { rowsAt } from '../sql/statements.ts';

/** With only one in flight, a request would wait for two turns of the event loop: one for its result, one for that before it. */
const IN_FLIGHT_MAX = 2;
/** After this many ms without a result, a statement no longer counts as in flight, so that waiting requests get one of their own. */
const LATE_MS = 20;
/** Larger requests are not shared, because the others would have to wait for their bytes. */
export const SHARED_ROWS_MAX = 16;
const STATEMENT_ROWS_MAX = 256;

interface ReadRequest {
  readonly addresses: readonly RowAddress[];
  readonly resolve: (result: SqlResult) => void;
  readonly reject: (reason: unknown) => void;
}

export class SharedReads {
  private readonly database: SqlDatabase;
  private readonly tenant: string;
  private waiting: ReadRequest[] = [];
  private inFlight = 0;
  /** The statement that has no connection yet. It will include all requests that wait then. */
  private next: object | undefined = undefined;

  constructor(database: SqlDatabase, tenant: string) {
    this.database = database;
    this.tenant = tenant;
  }

  /** Returns the same result as a statement for these rows alone. @throws SqlFailure */
  rows(addresses: readonly RowAddress[]): Promise<SqlResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ addresses, resolve, reject });
      this.begin();
    });
  }

  private begin(): void {
    if (this.waiting.length === 0 || this.next || this.inFlight >= IN_FLIGHT_MAX) return;
    const statement = (this.next = {});
    this.inFlight += 1;
    let isDone = false;
    const pass = (): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(late);
      this.inFlight -= 1;
      this.connected(statement);
    };
    const late = setTimeout(pass, LATE_MS);
    void this.fetch(() => this.connected(statement)).finally(pass);
  }

  private connected(statement: object): void {
    if (this.next === statement) this.next = undefined;
    this.begin();
  }

  /** Takes the waiting requests only once it has a connection, so that those that arrive until then are included. */
  private async fetch(connected: () => void): Promise<void> {
    let requests: readonly ReadRequest[] = [];
    let connection: SqlConnection | undefined;
    try {
      connection = await this.database.connect();
      requests = this.take();
      connected();
      if (requests.length === 0) return;
      const { statement, positionsOf } = combine(this.tenant, requests);
      const [found] = await connection.run([statement]);
      if (found)
        for (const request of requests) request.resolve(partOf(found, positionsOf(request)));
    } catch (reason) {
      const failed = requests.length > 0 ? requests : this.take();
      for (const { reject } of failed) reject(reason);
    } finally {
      connection?.release();
    }
  }

  private take(): readonly ReadRequest[] {
    let rows = 0;
    const end = this.waiting.findIndex(
      ({ addresses }) => (rows += addresses.length) > STATEMENT_ROWS_MAX,
    );
    return this.waiting.splice(0, end < 0 ? this.waiting.length : end);
  }
}

/** Builds one statement for all requests, with each row once, and maps each request to the positions of its rows in it. */
function combine(tenant: string, requests: readonly ReadRequest[]) {
  const positions = new Map<string, number>();
  const all: RowAddress[] = [];
  const positionOf = (address: RowAddress): number => {
    const name = `${address.space} ${address.key}`;
    let position = positions.get(name);
    if (position === undefined) {
      position = all.push(address) - 1;
      positions.set(name, position);
    }
    return position;
  };
  const byReadRequest = new Map(
    requests.map((request) => [request, request.addresses.map(positionOf)]),
  );
  return {
    statement: rowsAt(tenant, all),
    positionsOf: (request: ReadRequest) => byReadRequest.get(request) ?? [],
  };
}

/** Extracts the result of one request: rows are numbered by the position of their address in the request. */
function partOf(result: SqlResult, positions: readonly number[]): SqlResult {
  const byPosition = new Map(result.rows.map((row) => [Number(row[0]), row]));
  const rows = positions.flatMap((position, n) => {
    const row = byPosition.get(position);
    return row ? [[String(n), ...row.slice(1)]] : [];
  });
  return { command: result.command, count: rows.length, rows };
}
