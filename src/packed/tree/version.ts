/** The state of the tree after a number of the log: a snapshot, as long as its tables are kept. */
import { Malformed } from '../codec/byte-reader.ts';
import { joined, readPart } from '../codec/log-parts.ts';
import { readRecord, type Change, type LogRecord } from '../codec/log-record.ts';
import { damaged, readingOf } from '../damage.ts';
import { EMPTY_MANIFEST, type Manifest } from '../manifest.ts';
import type { LogPart } from '../medium.ts';
import { EMPTY_MEMTABLE, memtableWith, type Memtable } from './memtable.ts';

export interface Version {
  /** The last number of the log that it knows. */
  readonly number: number;
  /** The last one of a commit: versions with the same hold the same rows. */
  readonly committed: number;
  readonly manifest: Manifest;
  readonly memtable: Memtable;
  /** What the memtable is made of, oldest first. */
  readonly commits: readonly NumberedCommit[];
}

interface NumberedCommit {
  readonly number: number;
  readonly changes: readonly Change[];
}

/** A record, and the number of its last part. */
export interface NumberedRecord {
  readonly number: number;
  readonly record: LogRecord;
}

export const EMPTY_VERSION: Version = {
  number: 0,
  committed: 0,
  manifest: EMPTY_MANIFEST,
  memtable: EMPTY_MEMTABLE,
  commits: [],
};

/** The version after the rest of the log. @throws Refusal `local_data_loss` that names the record */
export function versionAfter(before: Version, log: readonly LogPart[]): Version {
  if (log.length === 0) return before;
  const records = recordsOf(log);
  const next = versionWith(before, records);
  const first = log[0]?.number ?? 0;
  // What is missing between them was flushed, or it is lost.
  if (first > Math.max(before.number, next.manifest.flushed) + 1)
    throw damaged(`log record ${before.number + 1}`, 'it is missing');
  return next;
}

export function versionWith(before: Version, records: readonly NumberedRecord[]): Version {
  let { manifest, committed } = before;
  const added: NumberedCommit[] = [];
  for (const { number, record } of records) {
    if (record.kind === 'flip') ({ manifest } = record);
    if (record.kind !== 'commit') continue;
    added.push({ number, changes: record.changes });
    committed = number;
  }
  const { flushed } = manifest;
  const isFlushed = flushed !== before.manifest.flushed;
  const kept = isFlushed ? before.commits.filter(({ number }) => number > flushed) : before.commits;
  const fresh = added.filter(({ number }) => number > flushed);
  return {
    number: records.at(-1)?.number ?? before.number,
    // What was flushed and cut before this tab looked was committed, too.
    committed: Math.max(committed, flushed > before.number ? flushed : 0),
    manifest,
    memtable: isFlushed
      ? memtableOf(EMPTY_MEMTABLE, [...kept, ...fresh])
      : memtableOf(before.memtable, fresh),
    commits: fresh.length > 0 || isFlushed ? [...kept, ...fresh] : kept,
  };
}

const memtableOf = (before: Memtable, commits: readonly NumberedCommit[]): Memtable =>
  commits.length === 0
    ? before
    : memtableWith(
        before,
        commits.flatMap(({ changes }) => changes),
      );

/** Whole records. @throws Refusal `local_data_loss` */
function recordsOf(log: readonly LogPart[]): NumberedRecord[] {
  const records: NumberedRecord[] = [];
  let pieces: Uint8Array[] = [];
  let expected = log[0]?.number ?? 0;
  for (const { number, bytes } of log) {
    if (number !== expected) throw damaged(`log record ${expected}`, 'it is missing');
    expected += 1;
    const named = (): string => `log record ${number}`;
    const record = readingOf(named, () => {
      const { index, count, piece } = readPart(bytes);
      if (index !== pieces.length) throw new Malformed('a part of it is missing');
      pieces.push(piece);
      return pieces.length < count ? undefined : readRecord(joined(pieces));
    });
    if (!record) continue;
    pieces = [];
    records.push({ number, record });
  }
  if (pieces.length > 0) throw damaged(`log record ${expected}`, 'a part of it is missing');
  return records;
}
