/** Keeps the most recent queries in memory while the inspector watches them. Otherwise queries are recorded only in the query log. */
import { indexPrefixOf, numberOf, type Key } from '../../src/codec/key.ts';
import type { ReadSet } from '../../src/engine/host.ts';
import { INSPECTOR_TAG, type QueryRecord } from '../../src/host/diagnostics.ts';
import type { QueryLog } from '../../src/logs/query-log.ts';
import { queryKept, type LoggedAnswer, type LoggedRequest } from '../../src/logs/record.ts';
import { isEntrySpace } from '../../src/store/port.ts';
import { FIRST_USER_COLLECTION, FIRST_USER_INDEX } from '../../src/values/native-kinds.ts';
import type { Micros } from '../../src/values/value.ts';

/** The part of a query log that the hosts of queries use. */
export type RecordLog = Pick<QueryLog, 'add' | 'flush' | 'isDirty' | 'counts'>;

/** Limits of what is kept; the oldest queries are dropped first. */
export const WATCHED_QUERIES_MAX = 500;
export const WATCHED_CHARS_MAX = 2 * 1024 * 1024;
/** Watching ends after this time without a request, because a page that is closed does not say so. */
export const WATCH_MICROS = 60 * 1_000_000;

/** Numbers of reads by key prefix: [database][collection or index]. */
export interface CountedReads {
  readonly collections: ReadonlyMap<Key, number>;
  readonly indexes: ReadonlyMap<Key, number>;
}

export type WatchedQuery = Omit<QueryRecord, 'reads'> & {
  readonly reads: (CountedReads & { readonly entries: number }) | undefined;
};

export class QueryWatch {
  /** The query log of the database. Undefined if its options turn logging off. */
  readonly own: RecordLog | undefined;
  private readonly clock: () => Micros;
  private kept: WatchedQuery[] = [];
  private chars = 0;
  private recorded = 0;
  private dropped = 0;
  /** Time of the inspector's last request. Undefined while nobody watches. */
  private watchedAt: Micros | undefined = undefined;
  private tee: RecordLog | undefined = undefined;

  constructor(own: RecordLog | undefined, clock: () => Micros) {
    this.own = own;
    this.clock = clock;
  }

  get isOn(): boolean {
    return this.watchedAt !== undefined;
  }

  /** The log in which queries are recorded at present. */
  get log(): RecordLog | undefined {
    const { own } = this;
    if (this.watchedAt === undefined) return own;
    if (this.clock() - this.watchedAt > WATCH_MICROS) {
      this.stop();
      return own;
    }
    return (this.tee ??= {
      add: (request, answer) => {
        own?.add(request, answer);
        this.note(request, answer);
      },
      flush: () => own?.flush() ?? Promise.resolve(),
      get isDirty() {
        return own?.isDirty ?? false;
      },
      get counts() {
        return own?.counts ?? { recorded: 0, lost: 0 };
      },
    });
  }

  /** Begins to watch, or continues. */
  begin(): void {
    this.watchedAt = this.clock();
  }

  stop(): void {
    this.watchedAt = undefined;
    this.tee = undefined;
    this.kept = [];
    this.chars = 0;
    this.dropped = 0;
  }

  /** The queries with a greater number. */
  after(number: number): {
    readonly queries: readonly WatchedQuery[];
    readonly last: number;
    readonly dropped: number;
  } {
    const queries = this.kept.filter((each) => each.number > number);
    return { queries, last: this.recorded, dropped: this.dropped };
  }

  /** Keeps a query, also one that was logged before watching began. */
  keep(query: Omit<WatchedQuery, 'number'>): void {
    this.recorded += 1;
    this.kept.push({ ...query, number: this.recorded });
    this.chars += query.query?.length ?? 0;
    while (this.kept.length > WATCHED_QUERIES_MAX || this.chars > WATCHED_CHARS_MAX) {
      this.chars -= this.kept.shift()?.query?.length ?? 0;
      this.dropped += 1;
    }
  }

  private note(request: LoggedRequest, answer: LoggedAnswer): void {
    if (request.tags?.has(INSPECTOR_TAG)) return;
    const { status, errorCode, errorPosition, credential, metrics, readSet, scanned = 0 } = answer;
    this.keep({
      tsMicros: request.ts,
      query: queryKept(request, answer),
      status,
      errorCode,
      errorPosition,
      actor: credential && actorOf(credential),
      metrics,
      reads: readSet && { ...countReads(readSet), entries: scanned },
    });
  }
}

export const actorOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string =>
  kind === 'root' ? kind : `${kind} ${id}`;

/** Counts reads of the user's collections and indexes. Reads of the database itself (schema, keys, tokens) are not counted. */
export function countReads({ rows, ranges }: ReadSet): CountedReads {
  const collections = new Map<Key, number>();
  const indexes = new Map<Key, number>();
  // In a copy, a row and the pending version that is shown over it have the same key: they count once.
  const read = new Set<Key>();
  for (const { space, key } of rows) {
    if (isEntrySpace(space) && !read.has(key)) count(collections, key, FIRST_USER_COLLECTION);
    read.add(key);
  }
  for (const { space, by, lower } of ranges)
    if (by === 'entry') count(indexes, lower, FIRST_USER_INDEX);
    else if (space === 'documents') count(collections, lower, FIRST_USER_COLLECTION, 0);
  return { collections, indexes };
}

function count(counts: Map<Key, number>, key: Key, first: number, more = 1): void {
  const prefix = indexPrefixOf(key);
  // A shorter prefix covers more than one collection.
  if (prefix.length < PREFIX_BYTES || numberOf(prefix) < first) return;
  counts.set(prefix, (counts.get(prefix) ?? 0) + more);
}

const PREFIX_BYTES = 8;
