/**
 * Tells the commits of other processes, in their order. A notice of the server is a hint to look; without one the head is polled.
 * What each commit changed is in the tail of the head row.
 */
import type { CommitNotice } from '../../src/engine/host.ts';
import { HEAD, commitsSince, headOf, readHead } from '../../src/engine/transactions.ts';
import type { Row, Store } from '../../src/store/port.ts';
import { SqlFailure, type SqlDatabase } from '../sql/sql-client.ts';
import type { HeadWatcher } from './sql-store.ts';

export interface OtherCommitsOptions {
  readonly database: SqlDatabase;
  readonly tenant: string;
  readonly writer: string;
}

const CHANNEL = 'burrow_commits';
const POLL_MS = 250;
/** Where the server tells, this only mends what it did not. */
const POLL_LISTENING_MS = 2000;
const TELL_PAUSE_MS = 10;

/** Nobody is told when nobody else listens: a notice costs a commit of its own. */
const TELL_TEXT = `SELECT pg_notify($1, $2) FROM
 (SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = $3) AS listening WHERE n > $4::bigint`;

export class OtherCommits implements HeadWatcher {
  readonly address = HEAD;
  private readonly options: OtherCommitsOptions;
  private readonly listeners = new Set<(notice: CommitNotice) => void>();
  /** Own commits that a look may find before it is told that they are own. */
  private readonly own = new Set<number>();
  /** All commits up to this one have been told, or are own. */
  private seen: number | undefined = undefined;
  private stopListening: (() => void) | undefined = undefined;
  private poll: ReturnType<typeof setTimeout> | undefined = undefined;
  private looking: Promise<void> | undefined = undefined;
  private mustLookAgain = false;
  private telling: ReturnType<typeof setTimeout> | undefined = undefined;
  private canTell = true;
  private isClosed = false;
  private store: Store | undefined = undefined;

  constructor(options: OtherCommitsOptions) {
    this.options = options;
  }

  listen(listener: (notice: CommitNotice) => void): () => void {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.start();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.stop();
    };
  }

  /** Where the head is read from. */
  follow(store: Store): void {
    this.store = store;
  }

  onWriting(head: Row): void {
    this.own.add(headOf(head));
  }

  onWritten(before: Row | undefined, head: Row): void {
    const ts = headOf(head);
    if (this.seen !== undefined) {
      if (headOf(before) > this.seen) this.move(before);
      this.seen = Math.max(this.seen, ts);
    }
    this.own.delete(ts);
    this.tellSoon();
  }

  close(): void {
    this.isClosed = true;
    this.stop();
    clearTimeout(this.telling);
  }

  private start(): void {
    const { database, tenant, writer } = this.options;
    this.stopListening = database.listen(CHANNEL, listenerName(tenant), (payload) => {
      const [of, by] = payload.split(' ');
      if (of === tenant && by !== writer) this.look();
    });
    this.look();
  }

  private stop(): void {
    this.stopListening?.();
    this.stopListening = undefined;
    clearTimeout(this.poll);
    this.seen = undefined;
  }

  private look(): void {
    if (this.isClosed || this.listeners.size === 0) return;
    this.mustLookAgain = true;
    this.looking ??= this.lookUntilQuiet().finally(() => {
      this.looking = undefined;
      if (this.isClosed || this.listeners.size === 0) return;
      clearTimeout(this.poll);
      const pause = this.stopListening ? POLL_LISTENING_MS : POLL_MS;
      this.poll = setTimeout(() => this.look(), pause).unref();
    });
  }

  private async lookUntilQuiet(): Promise<void> {
    while (this.mustLookAgain && !this.isClosed) {
      this.mustLookAgain = false;
      try {
        const found = await this.store?.read((tx) => tx.fetch([HEAD], []), META);
        this.move(found?.rows[0]);
      } catch {
        // The database is away: the next look sees what was missed.
        return;
      }
    }
  }

  /** Tells what lies between the last told and this head. */
  private move(row: Row | undefined): void {
    const head = readHead(row);
    const { seen } = this;
    if (seen === undefined) {
      this.seen = head.ts;
      return;
    }
    if (head.ts <= seen) return;
    this.seen = head.ts;
    const commits = commitsSince(seen, head);
    if (!commits) {
      this.tellListeners({ previous: head.ts, ts: head.ts, rows: [], entries: [] });
      return;
    }
    for (const { previous, ts, rows, entries } of commits) {
      if (this.own.has(ts)) continue;
      const changed = rows.map(({ space, key }) => ({ space, key }));
      this.tellListeners({ previous, ts, rows: changed, entries });
    }
  }

  private tellListeners(notice: CommitNotice): void {
    for (const listener of this.listeners) listener(notice);
  }

  /** Many commits, one notice. */
  private tellSoon(): void {
    if (!this.canTell || this.telling !== undefined || this.isClosed) return;
    this.telling = setTimeout(() => {
      void this.tell().finally(() => {
        this.telling = undefined;
      });
    }, TELL_PAUSE_MS).unref();
  }

  private async tell(): Promise<void> {
    const { database, tenant, writer } = this.options;
    try {
      const connection = await database.connect();
      try {
        const own = this.stopListening ? 1 : 0;
        const values = [CHANNEL, `${tenant} ${writer}`, listenerName(tenant), own];
        await connection.run([{ name: 'burrow_tell', text: TELL_TEXT, values }]);
      } finally {
        connection.release();
      }
    } catch (reason) {
      // Others poll.
      this.canTell = isPassing(reason);
    }
  }
}

const META = { spaces: ['meta'] } as const;

const listenerName = (tenant: string): string => `burrow listening ${tenant}`.slice(0, 63);

const isPassing = (reason: unknown): boolean =>
  reason instanceof SqlFailure && reason.isConnectionLoss;
