/** The commit that the cache is right at, and how transactions move it on to the head of the store. */
import { LIMITS } from '../../limits.ts';
import type { ReadTx, Row } from '../../store/port.ts';
import { SnapshotCache, type Changes } from '../../store/snapshot-cache.ts';
import { planOf, SnapshotReader, type StoreNeed } from '../../store/snapshot-reader.ts';
import type { Micros } from '../../values/value.ts';
import type { Lease } from '../context/host.ts';
import { commitsSince, HEAD, headOf, readHead, type Head } from './head.ts';

/** What a transaction writes besides the rows of its group. */
export interface Commit {
  readonly changes: Changes;
  readonly head: Row;
  /** Rows of the log of changes. */
  readonly logged: readonly Row[] | undefined;
}

/** One snapshot, and the commit that it shows. */
export interface Snapshot {
  readonly head: Micros;
  readonly reader: SnapshotReader;
}

export class HeadTracker {
  private readonly cache = new SnapshotCache(LIMITS.cacheBytes);
  private readonly lease: Lease | undefined;
  private readonly fetchBytes: number;
  /** The head as last seen in a transaction. */
  private seen: { readonly row: Row | undefined; readonly head: Head } | undefined = undefined;
  /** The term of the lease in which the head was read: nobody else has committed since, as long as it lasts. */
  private seenIn: number | undefined = undefined;
  /** A commit of this engine that is not known to be durable: a snapshot may show it before. */
  private pending: Commit | undefined = undefined;

  constructor(lease: Lease | undefined, fetchBytes: number = LIMITS.fetchBytes) {
    this.lease = lease;
    this.fetchBytes = fetchBytes;
  }

  /** To be asked before a transaction reads the head. */
  term(): number | undefined {
    return this.lease?.term();
  }

  /** Whether what is cached is the newest there is: the lease has been held since the head was read. */
  isCurrent(): boolean {
    return this.seenIn !== undefined && this.seenIn === this.term();
  }

  /** Whether the cache stays valid for the next transaction too. */
  isLeasePermanent(): boolean {
    return this.lease?.isPermanent === true && this.isCurrent();
  }

  /** The commit that the cache is right at; undefined: nothing is cached. */
  get cachedHead(): Micros | undefined {
    return this.cache.head;
  }

  /** What is cached, without a read of the store. */
  cached(): Snapshot | undefined {
    const { head } = this.cache;
    return head === undefined ? undefined : { head, reader: this.readerAt(head) };
  }

  private readerAt(head: Micros): SnapshotReader {
    return new SnapshotReader(this.cache, head, this.fetchBytes);
  }

  /** What is cached, if a transaction begun now shows just that: nobody else can commit. */
  trusted(): Snapshot | undefined {
    return this.isCurrent() ? this.cached() : undefined;
  }

  /**
   * First fetch of a transaction: what is needed so far, and the head.
   * @param trusted while the lease is held, the head is not fetched; no commit of this engine may be in progress
   */
  async enter(tx: ReadTx, needs: readonly StoreNeed[], trusted?: Snapshot): Promise<Snapshot> {
    const plan = planOf(needs);
    if (trusted) {
      const found = await tx.fetch(plan.rows, plan.ranges, this.fetchBytes);
      // Held still: of others, only a thread of this engine's process can have committed before this snapshot was taken.
      if (this.isCurrent() && this.cache.head === trusted.head) {
        trusted.reader.keep(plan, found);
        return trusted;
      }
    }
    const request = { ...plan, rows: [HEAD, ...plan.rows] };
    const term = this.term();
    const { head: begunAt = 0 } = this.cache;
    const found = await tx.fetch(request.rows, request.ranges, this.fetchBytes);
    const head = this.moveTo(found.rows[0], term, begunAt);
    const reader = this.readerAt(head);
    reader.keep(request, found);
    return { head, reader };
  }

  /**
   * First fetch of a transaction that may show less than the newest commit: nothing that is read so is trusted later.
   * Undefined: it shows less than it must, or than what is cached.
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
    const head = this.moveTo(row, undefined);
    const reader = this.readerAt(head);
    reader.keep(request, found);
    return { head, reader };
  }

  /**
   * The cache forgets what was changed by the commits it missed; everything, when that is unknown.
   * @param term of the lease, before the row was read
   * @param begunAt the cached commit then
   */
  moveTo(row: Row | undefined, term: number | undefined, begunAt = Infinity): Micros {
    const { cache, pending } = this;
    const seen =
      this.seen && this.seen.row?.value === row?.value ? this.seen : { row, head: readHead(row) };
    const { head } = seen;
    // Another transaction has shown a later commit meanwhile. What is cached is right at that one.
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

  /** The tail that the next head continues; undefined: no other engine will read it. */
  tailBefore(): Head['tail'] | undefined {
    return this.term() === undefined ? (this.seen?.head.tail ?? []) : undefined;
  }

  /** A transaction writes this commit. */
  begin(commit: Commit): void {
    this.pending = commit;
  }

  /** It was rolled back, or its end is unknown. */
  abandon(): void {
    this.pending = undefined;
  }

  /** It is durable. */
  confirm({ changes }: Commit): void {
    this.pending = undefined;
    this.cache.advance(changes);
  }

  /** Another engine has committed. */
  apply(changes: Changes): void {
    this.cache.advance(changes);
  }

  forget(): void {
    this.cache.forget(undefined);
  }
}
