/** The state of the tree at a log number. It is a snapshot as long as its tables are not deleted. */
import { joinBytes } from '../../codec/join-bytes.ts';
import { Malformed } from '../codec/byte-reader.ts';
import { readPart } from '../codec/log-parts.ts';
import { readRecord, type Change, type LogRecord } from '../codec/log-record.ts';
import { damaged, readingOf } from '../damage.ts';
import { EMPTY_MANIFEST, type Manifest } from '../manifest.ts';
import type { LogPart } from '../medium.ts';
import { EMPTY_MEMTABLE, memtableWith, type Memtable } from './memtable.ts';

export interface Version {
  /** The last log number that is part of the version. */
  readonly number: number;
  /** The last log number of a commit. Versions with the same value have the same rows. */
  readonly committed: number;
  readonly manifest: Manifest;
  /** Newest first. Commits go into the first layer; the others are sealed and wait to be flushed. */
  readonly layers: readonly Layer[];
}

/** Estimated bytes of memory. */
export const memtableBytes = ({ layers }: Version): number =>
  layers.reduce((sum, { memtable }) => sum + memtable.bytes, 0);

/** A memtable and the commits it is made of. */
export interface Layer {
  readonly memtable: Memtable;
  /** Undefined: there is none. */
  readonly commits: Commits | undefined;
  /** The greatest log number that may be in the layer. */
  readonly through: number;
}

interface NumberedCommit {
  readonly number: number;
  readonly changes: readonly Change[];
}

/** A commit and those before it: a list to which a version adds without copying it. */
interface Commits extends NumberedCommit {
  readonly before: Commits | undefined;
  readonly count: number;
  /** The number of the oldest commit. */
  readonly first: number;
}

const EMPTY_LAYER: Layer = { memtable: EMPTY_MEMTABLE, commits: undefined, through: Infinity };

/** A record and the number of its last part. `record` is undefined if the part is void. */
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

/** The version after more of the log was read. @throws Refusal `local_data_loss` that names the damaged record */
export function versionAfter(before: Version, log: readonly LogPart[]): Version {
  if (log.length === 0) return before;
  const records = recordsOf(log);
  const next = versionWith(before, records);
  const first = log[0]?.number ?? 0;
  // Missing records before the first one must be in tables. Otherwise they are lost.
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
    // Records that were flushed and trimmed before this tab read them may have been commits.
    committed: Math.max(committed, flushed > before.number ? flushed : 0),
    manifest,
    layers: layersWith(
      before.layers,
      flushed,
      added.filter(({ number }) => number > flushed),
    ),
  };
}

/** Seals the newest layer: later commits go into a new one. Undefined if the layer is empty. */
export function sealed(version: Version): Version | undefined {
  const [newest, ...older] = version.layers;
  if (!newest?.commits) return undefined;
  return { ...version, layers: [EMPTY_LAYER, { ...newest, through: version.number }, ...older] };
}

function layersWith(
  before: readonly Layer[],
  flushed: number,
  added: readonly NumberedCommit[],
): readonly Layer[] {
  const [newest = EMPTY_LAYER, ...older] = before.map((layer) => withoutFlushed(layer, flushed));
  const rest = older.filter(({ commits }) => commits);
  return [added.length > 0 ? layerWith(newest, added) : newest, ...rest];
}

/**
 * Removes flushed commits from a layer. Usually these are all of its commits, but another tab's flush may end within a
 * layer.
 */
function withoutFlushed(layer: Layer, flushed: number): Layer {
  const { commits, through } = layer;
  if (!commits || commits.first > flushed) return layer;
  const empty = { ...EMPTY_LAYER, through };
  const kept: NumberedCommit[] = [];
  for (let each: Commits | undefined = commits; each && each.number > flushed; each = each.before)
    kept.push(each);
  return kept.length > 0 ? layerWith(empty, kept.reverse()) : empty;
}

const layerWith = (
  { memtable, commits, through }: Layer,
  added: readonly NumberedCommit[],
): Layer => ({
  memtable: memtableWith(
    memtable,
    added.flatMap(({ changes }) => changes),
  ),
  commits: added.reduce(followedBy, commits),
  through,
});

const followedBy = (before: Commits | undefined, { number, changes }: NumberedCommit): Commits => ({
  number,
  changes,
  before,
  count: (before?.count ?? 0) + 1,
  first: before?.first ?? number,
});

/** Assembles records from the parts of the log. @throws Refusal `local_data_loss` */
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
