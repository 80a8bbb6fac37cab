/** The changes that a device lacks: a range of the log, up to the head or as far as they fit into an answer. */
import { keyAfter, type Key } from '../../../codec/key.ts';
import { changeKey, readChanges, type LoggedChange } from '../../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Row } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import { scan } from '../../../store/scan.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import { commitTimeOf } from '../rows/change-log-rows.ts';
import type { RecentChanges } from './recent-changes.ts';

export interface ChangesQuery {
  readonly database: DatabaseId;
  /** Changes after this time. */
  readonly since: Micros;
  /** Changes up to and including this commit, the latest. */
  readonly head: Micros;
  /** Approximate maximum size of the documents. */
  readonly bytes: number;
  readonly recent: RecentChanges;
  /** Whether a change concerns the device. Other changes are skipped. */
  readonly concerns: (change: LoggedChange) => boolean;
}

export interface ChangesFound {
  /** The changed documents, each once, in their present version. */
  readonly rows: ReadonlyMap<Key, Row | undefined>;
  /** The changed documents, except documents that were written again without a change. */
  readonly changed: ReadonlySet<Key>;
  /** All changes up to this time are included. */
  readonly until: Micros;
  readonly bytes: number;
}

const CHUNK = 256;

/**
 * Reads whole commits, at least one.
 * @throws Suspended
 */
export function changesSince(reader: Reader, query: ChangesQuery): ChangesFound {
  const { database, since, head, concerns } = query;
  const rows = new Map<Key, Row | undefined>();
  const changed = new Set<Key>();
  const known = query.recent.between(database, since, head)?.map((row) => ({ key: row.key, row }));
  let bytes = 0;
  let commits = 0;
  // The range ends at the head, so that later commits do not invalidate the cached range.
  const upper = changeKey(database, head + 1);
  let until = since;
  for (let lower = changeKey(database, since + 1), limit = CHUNK; ; limit = CHUNK * 8) {
    const found = known ?? reader.range(scan('sync', { lower, upper }, { limit }));
    const logged = found.map(({ row }) => (row ? readChanges(database, row).filter(concerns) : []));
    const current = currentRows(reader, logged.flat(), rows);
    for (const [i, changes] of logged.entries()) {
      const own = new Map<Key, Row | undefined>();
      for (const { key } of changes) if (!rows.has(key)) own.set(key, current.get(key));
      const more = sizeOf(own);
      const isFull = bytes + more > query.bytes || rows.size + own.size > SYNC_LIMITS.pullChanges;
      if (rows.size > 0 && own.size > 0 && isFull) return { rows, changed, until, bytes };
      for (const [key, row] of own) rows.set(key, row);
      for (const { key, isSame } of changes) if (!isSame) changed.add(key);
      bytes += more;
      until = commitTimeOf(found[i]?.key ?? lower);
    }
    commits += found.length;
    const last = found.at(-1);
    if (known || !last || found.length < limit) return { rows, changed, until: head, bytes };
    if (commits >= SYNC_LIMITS.pullCommits) return { rows, changed, until, bytes };
    lower = keyAfter(last.key);
  }
}

/** Present rows of the changed documents that have not been read yet. */
function currentRows(
  reader: Reader,
  changes: readonly LoggedChange[],
  read: ReadonlyMap<Key, Row | undefined>,
): ReadonlyMap<Key, Row | undefined> {
  const keys = new Set(changes.map(({ key }) => key).filter((key) => !read.has(key)));
  return new Map(
    eachElement(keys, (key) => [key, reader.row({ space: 'documents', key })] as const),
  );
}

/** Approximate size of a removed document in an answer. */
const LEAVE_BYTES = 40;

function sizeOf(rows: ReadonlyMap<Key, Row | undefined>): number {
  let size = 0;
  for (const row of rows.values()) size += row?.value.length ?? LEAVE_BYTES;
  return size;
}
