/** Tracks the head at which the cache is valid, and moves the cache to the head that a transaction reads. */
import { LIMITS } from '../../limits.ts';
import type { ReadTx, Row } from '../../store/port.ts';
import { SnapshotCache, type Changes } from '../../store/snapshot-cache.ts';
import { planOf, SnapshotReader, type StoreNeed } from '../../store/snapshot-reader.ts';
import type { Micros } from '../../values/value.ts';
import type { Lease } from '../context/host.ts';
import { commitsSince, HEAD, headOf, readHead, type Head } from './head.ts';

/** What a transaction writes, in addition to the rows of its group. */
export interface Commit {
  readonly changes: Changes;
  readonly head: Row;
  /** Rows for the change log. */
  readonly logged: readonly Row[] | undefined;
}

/** A snapshot, and the last commit that it shows. */
export interface Snapshot {
  readonly head: Micros;
  readonly reader: SnapshotReader;
}

export class HeadTracker {
  private readonly cache = new SnapshotCache(LIMITS.cacheBytes);
  private readonly lease: Lease | undefined;
  private readonly fetchBytes: number;
  /** The head that a transaction read last. */
  private seen: { readonly row: Row | undefined; readonly head: Head } | undefined = undefined;
  /** The lease term in which the head was read. While this term lasts, nobody else has committed since. */
  private seenIn: number | undefined = undefined;
  /** A commit of this engine that is not yet known to be durable. A snapshot may already show it. */
  private pending: Commit | undefined = undefined;

  constructor(lease: Lease | undefined, fetchBytes: number = LIMITS.fetchBytes) {
    this.lease = lease;
    this.fetchBytes = fetchBytes;
  }

  /** The present term of the lease. Must be read before a transaction reads the head. */
  term(): number | undefined {
    return this.lease?.term();
  }

  /** Whether the cache shows the newest state: the lease has been held since the head was read. */
  isCurrent(): boolean {
    return this.seenIn !== undefined && this.seenIn === this.term();
  }

  /** Whether the cache stays valid for the next transaction too. */
  isLeasePermanent(): boolean {
    return this.lease?.isPermanent === true && this.isCurrent();
  }

  /** The head at which the cache is valid. Undefined: nothing is cached. */
  get cachedHead(): Micros | undefined {
    return this.cache.head;
  }

  /** The cached snapshot, without reading the store. */
  cached(): Snapshot | undefined {
    const { head } = this.cache;
    return head === undefined ? undefined : this.snapshotAt(head);
  }

  private snapshotAt(head: Micros): Snapshot {
    return { head, reader: new SnapshotReader(this.cache, head, this.fetchBytes) };
  }

  /** The cached snapshot, if a transaction that begins now would show the same: nobody else can commit. */
  trusted(): Snapshot | undefined {
    return this.isCurrent() ? this.cached() : undefined;
  }

  /**
   * The first fetch of a transaction: the head, and what is needed so far.
   * @param trusted if given, the head is not fetched while the lease is held. No commit of this engine may be in progress
   */
  async enter(tx: ReadTx, needs: readonly StoreNeed[], trusted?: Snapshot): Promise<Snapshot> {
    const plan = planOf(needs);
    if (trusted) {
      const found = await tx.fetch(plan.rows, plan.ranges, this.fetchBytes);
      // The lease is still held, so only a thread of this process can have committed before this snapshot was taken.
      if (this.isCurrent() && this.cache.head === trusted.head) {
        trusted.reader.keep(plan, found);
        return trusted;
      }
    }
    const request = { ...plan, rows: [HEAD, ...plan.rows] };
    const term = this.term();
    const { head: begunAt = 0 } = this.cache;
    const found = await tx.fetch(request.rows, request.ranges, this.fetchBytes);
    const snapshot = this.snapshotAt(this.moveTo(found.rows[0], term, begunAt));
    snapshot.reader.keep(request, found);
    return snapshot;
  }

  /**
   * The first fetch of a transaction that may show less than the newest commit. Its reads are not trusted later. Returns undefined when the
   * snapshot is older than `minSnapshot` or than the cache.
   */
  async enterStale(
    tx: ReadTx,
    needs: readonly StoreNeed[],
    minSnapshot: Micros,
  ): Promise<Snapshot | undefined> {
    const plan = planOf(needs);
    const request = { ...plan, rows: [HEAD, ...plan.rows] };
    const found = await tx.fetch(request.rows, request.ranges, this.fetchBytes);
    const row = found.rows[0];
    if (headOf(row) < Math.max(minSnapshot, this.cache.head ?? 0)) return undefined;
    const snapshot = this.snapshotAt(this.moveTo(row, undefined));
    snapshot.reader.keep(request, found);
    return snapshot;
  }

  /**
   * Moves the cache to the head that a transaction read. Drops what the missed commits changed, or everything if that is unknown.
   * @param term lease term before the row was read
   * @param begunAt head of the cache before the row was read
   */
  moveTo(row: Row | undefined, term: number | undefined, begunAt = Infinity): Micros {
    const { cache, pending } = this;
    const seen =
      this.seen && this.seen.row?.value === row?.value ? this.seen : { row, head: readHead(row) };
    const { head } = seen;
    // While the row was read, another transaction moved the cache to a later head, which stays.
    if (head.ts >= begunAt && head.ts < (cache.head ?? 0)) return head.ts;
    this.seen = seen;
    this.seenIn = term;
    if (head.ts === cache.head) return head.ts;
    const isOwn = pending !== undefined && pending.head.value === row?.value;
    const missed = isOwn
      ? [pending.changes]
      : cache.head === undefined
        ? undefined
        : commitsSince(cache.head, head);
    if (missed) for (const commit of missed) cache.advance(commit);
    else cache.forget(head.ts);
    return head.ts;
  }

  /** The tail that the next head continues. Undefined: no other engine will read it. */
  tailBefore(): Head['tail'] | undefined {
    return this.term() === undefined ? (this.seen?.head.tail ?? []) : undefined;
  }

  /** To be called when a transaction has written this commit. */
  begin(commit: Commit): void {
    this.pending = commit;
  }

  /** To be called when the commit was rolled back or its result is unknown. */
  abandon(): void {
    this.pending = undefined;
  }

  /** To be called when the commit is durable. */
  confirm({ changes }: Commit): void {
    this.pending = undefined;
    this.cache.advance(changes);
  }

  /** To be called when another engine has committed. */
  apply(changes: Changes): void {
    this.cache.advance(changes);
  }

  forget(): void {
    this.cache.forget(undefined);
  }
}
