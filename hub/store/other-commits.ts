/**
 * Watches the head row for commits of other processes and announces them in order. A notification (LISTEN/NOTIFY) is only a hint
 * to read the row; the row is also polled. The tail of the head row lists what each commit changed.
 */
import { createHash } from 'node:crypto';
import type { CommitNotice } from '../../src/engine/host.ts';
import {
  HEAD,
  commitsSince,
  headOf,
  lastWithout,
  readHead,
  type Head,
} from '../../src/engine/transactions.ts';
import type { Row, Store } from '../../src/store/port.ts';
import { SqlFailure, type SqlDatabase, type SqlListener } from '../sql/sql-client.ts';
import type { HeadWatcher } from './sql-store.ts';

export interface OtherCommitsOptions {
  readonly database: SqlDatabase;
  readonly tenant: string;
  readonly writer: string;
}

const CHANNEL = 'burrow_commits';
const POLL_MS = 250;
/** While notifications arrive, polling only covers those that were lost. */
const POLL_LISTENING_MS = 2000;
const NOTIFY_PAUSE_MS = 10;

/** Notifies only if another process listens, because each notification costs a commit. */
const NOTIFY_TEXT = `SELECT pg_notify($1, $2) FROM
 (SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = $3) AS listening WHERE n > $4::bigint`;

const LISTENING_TEXT = 'SELECT 1 FROM pg_stat_activity WHERE application_name = $1 LIMIT 1';

export class OtherCommits implements HeadWatcher {
  readonly address = HEAD;
  private readonly options: OtherCommitsOptions;
  private readonly listeners = new Set<(notice: CommitNotice) => void>();
  /** Times of this store's own commits that a read may find before `onWritten()` is called for them. */
  private readonly own = new Set<number>();
  /** All commits up to this time were announced, or were made by this store. */
  private seen: number | undefined = undefined;
  private listener: SqlListener | undefined = undefined;
  private poll: ReturnType<typeof setTimeout> | undefined = undefined;
  private reading: Promise<void> | undefined = undefined;
  private mustReadAgain = false;
  private notifying: ReturnType<typeof setTimeout> | undefined = undefined;
  private canNotify = true;
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

  /** Sets the store from which the head row is read. */
  follow(store: Store): void {
    this.store = store;
  }

  onWriting(head: Row): void {
    this.own.add(headOf(head));
  }

  /**
   * Forgets the time of the failed commit: a commit of another process may get the same time. If the outcome is unknown and the
   * commit was made after all, it is announced like those of other processes.
   */
  onFailed(head: Row): void {
    this.own.delete(headOf(head));
  }

  onWritten(before: Row | undefined, head: Row): void {
    const written = readHead(head);
    const { ts } = written;
    if (this.seen !== undefined) {
      this.seen = this.seenBefore(written, this.seen);
      if (headOf(before) > this.seen) this.advance(before);
      this.seen = Math.max(this.seen, ts);
    }
    this.own.delete(ts);
    this.notifySoon();
  }

  /**
   * Whether another process listens on the same tenant. False if unknown: behind a pooler, or on a server without LISTEN, no
   * process can listen. @throws SqlFailure
   */
  async hasListeners(): Promise<boolean> {
    const { database, tenant } = this.options;
    const connection = await database.connect();
    try {
      const values = [listenerName(tenant)];
      const [found] = await connection.run([{ name: '', text: LISTENING_TEXT, values }]);
      return (found?.rows.length ?? 0) > 0;
    } finally {
      connection.release();
    }
  }

  close(): void {
    this.isClosed = true;
    this.stop();
    clearTimeout(this.notifying);
  }

  private start(): void {
    const { database, tenant, writer } = this.options;
    this.listener = database.listen(CHANNEL, listenerName(tenant), (payload) => {
      const [of, by] = payload.split(' ');
      if (of === tenant && by !== writer) this.check();
    });
    this.check();
  }

  private stop(): void {
    this.listener?.stop();
    this.listener = undefined;
    clearTimeout(this.poll);
    this.seen = undefined;
  }

  private check(): void {
    if (this.isClosed || this.listeners.size === 0) return;
    this.mustReadAgain = true;
    this.reading ??= this.readUntilQuiet().finally(() => {
      this.reading = undefined;
      if (this.isClosed || this.listeners.size === 0) return;
      clearTimeout(this.poll);
      const pause = this.listener?.isListening === true ? POLL_LISTENING_MS : POLL_MS;
      this.poll = setTimeout(() => this.check(), pause).unref();
    });
  }

  private async readUntilQuiet(): Promise<void> {
    while (this.mustReadAgain && !this.isClosed) {
      this.mustReadAgain = false;
      const { seen = 0 } = this;
      try {
        const found = await this.store?.read((tx) => tx.fetch([HEAD], []), META);
        const head = headOf(found?.rows[0]);
        if (head < seen && this.seen === seen) this.seen = this.setBackTo(head);
        this.advance(found?.rows[0]);
      } catch {
        // The database cannot be reached: the next read finds the missed commits.
        return;
      }
    }
  }

  /** Announces all commits after the last announced one, up to this head. */
  private advance(row: Row | undefined): void {
    const head = readHead(row);
    if (this.seen === undefined) {
      this.seen = head.ts;
      return;
    }
    const seen = this.seenBefore(head, this.seen);
    if (head.ts <= seen) return;
    this.seen = head.ts;
    const commits = commitsSince(seen, head);
    if (!commits) {
      this.announce(unknownUntil(head.ts));
      return;
    }
    for (const { previous, ts, rows, entries } of commits) {
      if (this.own.has(ts)) continue;
      const changed = rows.map(({ space, key }) => ({ space, key }));
      this.announce({ previous, ts, rows: changed, entries });
    }
  }

  /** The last commit before this head that was announced, and is not lost. @param seen the last one that was announced */
  private seenBefore(head: Head, seen: number): number {
    const last = lastWithout(seen, head);
    return last === undefined ? seen : this.setBackTo(last);
  }

  /** Announces that the commits after this one are lost: for example, a standby that lagged was promoted. */
  private setBackTo(ts: number): number {
    this.announce(unknownUntil(ts));
    return ts;
  }

  private announce(notice: CommitNotice): void {
    for (const listener of this.listeners) listener(notice);
  }

  /** Waits `NOTIFY_PAUSE_MS`, so that commits in quick succession share one notification. */
  private notifySoon(): void {
    if (!this.canNotify || this.notifying !== undefined || this.isClosed) return;
    this.notifying = setTimeout(() => {
      void this.notify().finally(() => {
        this.notifying = undefined;
      });
    }, NOTIFY_PAUSE_MS).unref();
  }

  private async notify(): Promise<void> {
    const { database, tenant, writer } = this.options;
    try {
      const connection = await database.connect();
      try {
        const own = this.listener?.isListening === true ? 1 : 0;
        const values = [CHANNEL, `${tenant} ${writer}`, listenerName(tenant), own];
        await connection.run([{ name: 'burrow_tell', text: NOTIFY_TEXT, values }]);
      } finally {
        connection.release();
      }
    } catch (reason) {
      // If NOTIFY is unsupported, no more notifications are sent: the other processes poll.
      if (reason instanceof SqlFailure && reason.isUnsupported) this.canNotify = false;
    }
  }
}

const unknownUntil = (ts: number): CommitNotice => ({ previous: ts, ts, rows: [], entries: [] });

const META = { spaces: ['meta'] } as const;

/** PostgreSQL truncates application names to this length. */
const NAME_MAX = 63;
const HASH_CHARS = 24;

/**
 * The application name of a process that listens on a tenant. Long names are hashed; the tilde, which no tenant name contains,
 * keeps them distinct from all others.
 */
function listenerName(tenant: string): string {
  const name = `burrow listening ${tenant}`;
  if (name.length <= NAME_MAX) return name;
  const hash = createHash('sha256').update(tenant).digest('hex').slice(0, HASH_CHARS);
  return `${name.slice(0, NAME_MAX - HASH_CHARS - 1)}~${hash}`;
}
