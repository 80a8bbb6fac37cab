/** The changes that a device lacks: a range of the log, up to the head or as far as they fit. */
import { decodeDocumentKey, syncKey, type Key } from '../../codec/key.ts';
import { changeKey, readChanges, type LoggedChange } from '../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import type { Range, Row, RowAddress } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { eachElement } from '../../query/collect-needs.ts';
import { readSafeInt64 } from '../../codec/ordered-bytes.ts';
import type { DatabaseId, Micros } from '../../values/value.ts';
import { recordIn } from './device-rows.ts';
import type { RecentChanges } from './recent-changes.ts';

export interface ChangesAsked {
  readonly database: DatabaseId;
  /** After this. */
  readonly since: Micros;
  /** Up to and with this commit, the last there is. */
  readonly head: Micros;
  /** About so much of documents. */
  readonly bytes: number;
  readonly recent?: Pick<RecentChanges, 'between'> | undefined;
  /** Whether a change concerns the device; the others are passed over. */
  readonly concerns: (change: LoggedChange) => boolean;
}

export interface ChangesFound {
  /** Documents that changed, each once, as they stand now. */
  readonly rows: ReadonlyMap<Key, Row | undefined>;
  /** Up to here. */
  readonly until: Micros;
  readonly bytes: number;
}

const CHUNK = 256;

/**
 * Whole commits, at least one.
 * @throws Suspended
 */
export function changesSince(reader: Reader, asked: ChangesAsked): ChangesFound {
  const { database, since, head, concerns } = asked;
  const rows = new Map<Key, Row | undefined>();
  const known = asked.recent?.between(database, since, head)?.map((row) => ({ key: row.key, row }));
  let bytes = 0;
  let commits = 0;
  // The end is part of the question: what is known of it stays true when more is written.
  const upper = changeKey(database, head + 1);
  let until = since;
  for (let lower = changeKey(database, since + 1), limit = CHUNK; ; limit = CHUNK * 8) {
    const found = known ?? reader.range({ ...IN_LOG, lower, upper, limit });
    const changed = found.map(({ row }) =>
      row ? readChanges(database, row).filter(concerns) : [],
    );
    const unread = new Set(
      changed
        .flat()
        .map(({ key }) => key)
        .filter((key) => !rows.has(key)),
    );
    const current = new Map(
      eachElement(unread, (key) => [key, reader.row({ space: 'documents', key })] as const),
    );
    for (const [i, changes] of changed.entries()) {
      const own = new Map<Key, Row | undefined>();
      for (const { key } of changes) if (!rows.has(key)) own.set(key, current.get(key));
      const more = sizeOf(own);
      const isFull = bytes + more > asked.bytes || rows.size + own.size > SYNC_LIMITS.pullChanges;
      if (rows.size > 0 && own.size > 0 && isFull) return { rows, until, bytes };
      for (const [key, row] of own) rows.set(key, row);
      bytes += more;
      until = tsOf(found[i]?.key ?? lower);
    }
    commits += found.length;
    const last = found.at(-1);
    if (known || !last || found.length < limit) return { rows, until: head, bytes };
    if (commits >= SYNC_LIMITS.pullCommits) return { rows, until, bytes };
    lower = (last.key + '\0') as Key;
  }
}

const IN_LOG = {
  space: 'sync',
  by: 'key',
  reverse: false,
  rows: true,
} as const satisfies Partial<Range>;

/** What a document that is gone takes in an answer, about. */
const LEAVE_BYTES = 40;

function sizeOf(rows: ReadonlyMap<Key, Row | undefined>): number {
  let size = 0;
  for (const row of rows.values()) size += row?.value.length ?? LEAVE_BYTES;
  return size;
}

const TS_BYTES = 8;

/** When the commit was that a row of the log tells of. */
export const tsOf = (key: Key): Micros =>
  readSafeInt64({ key, at: key.length - TS_BYTES, mask: 0 });

const horizonAddress = (database: DatabaseId): RowAddress => ({
  space: 'sync',
  key: syncKey('horizon', database),
});

/** The log holds all changes after this. @throws Suspended */
export const horizonIn = (reader: Reader, database: DatabaseId): Micros =>
  (recordIn(reader, horizonAddress(database)) as Micros | undefined) ?? 0;

export const horizonRow = (database: DatabaseId, ts: Micros): Row => ({
  key: horizonAddress(database).key,
  entries: [],
  value: JSON.stringify(ts),
});

/** Number of the collection whose document changed. */
export const collectionOfChange = ({ key }: LoggedChange): number =>
  decodeDocumentKey(key).collection;
