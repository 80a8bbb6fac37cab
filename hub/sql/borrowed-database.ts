/** A database whose connections belong to another thread, which lends them (`lent-database.ts`). */
import type { MessagePort } from 'node:worker_threads';
import type { CommitNotice } from '../../src/engine/host.ts';
import type { FromLender, ToLender } from './lent-database.ts';
import {
  SqlFailure,
  type SqlConnection,
  type SqlDatabase,
  type SqlResult,
  type Statement,
} from './sql-client.ts';

export class BorrowedDatabase implements SqlDatabase {
  readonly isExclusive = true;
  roundTrips = 0;
  private readonly port: MessagePort;
  private readonly calls = new Map<number, (answer: FromLender) => void>();
  /** Parts of results that have arrived, by the number of their call. */
  private readonly parts = new Map<number, Part[]>();
  private count = 0;

  constructor(port: MessagePort) {
    this.port = port;
    port.on('message', (answer: FromLender) => this.receive(answer));
  }

  async connect(): Promise<SqlConnection> {
    const n = (this.count += 1);
    await this.call((call) => ({ type: 'connect', n, call }));
    return {
      run: (statements) => this.run(n, statements),
      // In the next turn of the event loop, because `announce()` is called in this turn and its message must be sent first.
      release: () => void setImmediate(() => this.send({ type: 'release', n })),
    };
  }

  /**
   * Tells the lending thread what was committed, before anyone else can use the connection, so that the lender's cache stays
   * correct.
   */
  announce({ previous, ts, rows, entries, logged }: CommitNotice): void {
    const notice = { previous, ts, rows, entries, ...(logged && { logged }) };
    this.send({ type: 'committed', notice });
  }

  listen(): undefined {
    return undefined;
  }

  async close(): Promise<void> {
    // Connections released in this turn send their message in the next one, so the port is closed after that.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    this.port.close();
  }

  private async run(n: number, statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    this.roundTrips += 1;
    const { results = [] } = await this.call((call) => ({ type: 'run', n, call, statements }));
    return results;
  }

  private async call(messageOf: (call: number) => ToLender): Promise<FromLender> {
    const call = (this.count += 1);
    const answer = await new Promise<FromLender>((resolve) => {
      this.calls.set(call, resolve);
      this.send(messageOf(call));
    });
    const { failure } = answer;
    if (failure) throw new SqlFailure(failure.message, failure.code, failure.at);
    return answer;
  }

  private receive(answer: FromLender): void {
    const { call, part, results } = answer;
    const parts = this.parts.get(call) ?? [];
    if (part) {
      parts.push(part);
      this.parts.set(call, parts);
      return;
    }
    this.parts.delete(call);
    const whole = results?.map((result, at) => joined(result, at, parts));
    this.calls.get(call)?.(whole ? { ...answer, results: whole } : answer);
    this.calls.delete(call);
  }

  private send(message: ToLender): void {
    this.port.postMessage(message);
  }
}

type Part = NonNullable<FromLender['part']>;

function joined(result: SqlResult, at: number, parts: readonly Part[]): SqlResult {
  const before = parts.filter((part) => part.at === at);
  if (before.length === 0) return result;
  return { ...result, rows: [...before.flatMap(({ rows }) => rows), ...result.rows] };
}
