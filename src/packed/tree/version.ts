/** The state of the tree after a number of the log: a snapshot, as long as its tables are kept. */
import { joinBytes } from '../../codec/join-bytes.ts';
import { Malformed } from '../codec/byte-reader.ts';
import { readPart } from '../codec/log-parts.ts';
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
  /** Newest first: commits go into the first, the others are sealed and wait for their flush. */
  readonly layers: readonly Layer[];
}

/** About so many bytes of memory. */
export const memtableBytes = ({ layers }: Version): number =>
  layers.reduce((sum, { memtable }) => sum + memtable.bytes, 0);

/** A memtable and what it is made of. */
export interface Layer {
  readonly memtable: Memtable;
  /** Oldest first. */
  readonly commits: readonly NumberedCommit[];
  /** The last number that may be in it. */
  readonly through: number;
}

interface NumberedCommit {
  readonly number: number;
  readonly changes: readonly Change[];
}

const EMPTY_LAYER: Layer = { memtable: EMPTY_MEMTABLE, commits: [], through: Infinity };

/** A record, and the number of its last part; undefined: nothing counts that was appended under it. */
export interface NumberedRecord {
  readonly number: number;
  readonly record: LogRecord | undefined;
}

export const EMPTY_VERSION: Version = {
  number: 0,
  committed: 0,
  manifest: EMPTY_MANIFEST,
  layers: [EMPTY_LAYER],
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
    if (record?.kind === 'flip') ({ manifest } = record);
    if (record?.kind !== 'commit') continue;
    added.push({ number, changes: record.changes });
    committed = number;
  }
  const { flushed } = manifest;
  return {
    number: records.at(-1)?.number ?? before.number,
    // What was flushed and cut before this tab read the log was committed, too.
    committed: Math.max(committed, flushed > before.number ? flushed : 0),
    manifest,
    layers: layersWith(
      before.layers,
      flushed,
      added.filter(({ number }) => number > flushed),
    ),
  };
}

/** The newest layer takes no more; undefined: there is nothing in it. */
export function sealed(version: Version): Version | undefined {
  const [newest, ...older] = version.layers;
  if (!newest || newest.commits.length === 0) return undefined;
  return { ...version, layers: [EMPTY_LAYER, { ...newest, through: version.number }, ...older] };
}

function layersWith(
  before: readonly Layer[],
  flushed: number,
  added: readonly NumberedCommit[],
): readonly Layer[] {
  const [newest = EMPTY_LAYER, ...older] = before.map((layer) => withoutFlushed(layer, flushed));
  const rest = older.filter(({ commits }) => commits.length > 0);
  return [added.length > 0 ? layerWith(newest, added) : newest, ...rest];
}

/** Whole layers, as a rule: those of another tab's flush end elsewhere. */
function withoutFlushed(layer: Layer, flushed: number): Layer {
  const first = layer.commits[0];
  if (!first || first.number > flushed) return layer;
  const empty = { ...EMPTY_LAYER, through: layer.through };
  if (layer.through <= flushed) return empty;
  const kept = layer.commits.filter(({ number }) => number > flushed);
  return kept.length > 0 ? layerWith(empty, kept) : empty;
}

const layerWith = (
  { memtable, commits, through }: Layer,
  added: readonly NumberedCommit[],
): Layer => ({
  memtable: memtableWith(
    memtable,
    added.flatMap(({ changes }) => changes),
  ),
  commits: [...commits, ...added],
  through,
});

/** Whole records. @throws Refusal `local_data_loss` */
function recordsOf(log: readonly LogPart[]): NumberedRecord[] {
  const records: NumberedRecord[] = [];
  let pieces: Uint8Array[] = [];
  let expected = log[0]?.number ?? 0;
  for (const { number, bytes } of log) {
    if (number !== expected) throw damaged(`log record ${expected}`, 'it is missing');
    expected += 1;
    if (bytes === undefined) {
      records.push({ number, record: undefined });
      continue;
    }
    const named = (): string => `log record ${number}`;
    const record = readingOf(named, () => {
      const { index, count, piece } = readPart(bytes);
      if (index !== pieces.length) throw new Malformed('a part of it is missing');
      pieces.push(piece);
      return pieces.length < count ? undefined : readRecord(joinBytes(pieces));
    });
    if (!record) continue;
    pieces = [];
    records.push({ number, record });
  }
  if (pieces.length > 0) throw damaged(`log record ${expected}`, 'a part of it is missing');
  return records;
}
