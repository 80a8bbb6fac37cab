/**
 * Recovers readable rows from a damaged store. A first pass finds where each block begins. A second pass reads the
 * blocks in the order of their keys, so that only blocks that overlap are in memory at the same time.
 */
import { joinBytes } from '../codec/join-bytes.ts';
import { keyOfBytes, type Key } from '../codec/key.ts';
import { SPACES, type Row, type Space } from '../store/port.ts';
import { compareScalars } from '../values/compare.ts';
import { Block } from './codec/block.ts';
import { Malformed } from './codec/byte-reader.ts';
import { readPart, type Part } from './codec/log-parts.ts';
import { readRecord, type LogRecord } from './codec/log-record.ts';
import { readRowBody } from './codec/stored-value.ts';
import { ALL_FAMILIES, rowFamily, type Family } from './families.ts';
import type { IdRange, Manifest, Table } from './manifest.ts';
import type { LogPart, Medium } from './medium.ts';
import { storedBlocks } from './stored-blocks.ts';
import { ABOVE_ALL } from './tree/cursor.ts';

/** Rows of a space in the order of their keys, each key once. */
export interface SalvagedRows {
  readonly space: Space;
  readonly rows: readonly Row[];
}

/**
 * Yields the newest readable version of each row. Without a manifest, the age of a row is estimated by the newest log
 * number of its block: a row that was changed between merges may then come back as an older version, and deleted rows
 * may reappear.
 * @param damaged called for each part that cannot be read
 */
export async function* salvage(
  medium: Pick<Medium, 'read'>,
  damaged: (what: string) => void,
): AsyncGenerator<SalvagedRows> {
  const reported = new Set<string>();
  const report = (what: string): void => {
    if (!reported.has(what)) damaged(what);
    reported.add(what);
  };
  const parts = (await medium.read(0, [])).log;
  const log = readLog(parts, report);
  const ranks = log.manifest && ranksOf(log.manifest);
  const lost = new Set(ranks?.keys());
  const places = new Map<Family, Place[]>();
  for await (const { ids, block } of storedBlocks(medium, report)) {
    // A claim in the log precedes all blocks, and the last record is never trimmed. So an empty log means that records
    // are lost.
    if (parts.length === 0) report('log record 1');
    for (let id = ids.first; id <= ids.last; id += 1) lost.delete(id);
    const order = orderOf(ids, block, ranks);
    if (order === undefined) continue;
    const place = { ...ids, low: block.read(0).keys[0] ?? '', order };
    const known = places.get(block.family);
    if (known) known.push(place);
    else places.set(block.family, [place]);
  }
  for (const id of lost) report(`block ${id}`);
  for (const space of SPACES) {
    const ofSpace = places.get(rowFamily(space)) ?? [];
    const walk = new SpaceWalk(medium, ofSpace, log.rows.get(space) ?? new Map(), report);
    for await (const rows of walk.rows()) yield { space, rows };
  }
}

/** The ids of a block, its lowest key and its age. */
interface Place extends IdRange {
  readonly low: string;
  readonly order: number;
}

interface Version {
  /** The greater order is newer. With equal orders the versions are equal, or it is unknown which is newer. */
  readonly order: number;
  readonly row: Row | undefined;
}

/** For each block id the number of runs that are newer than its own. */
type Ranks = ReadonlyMap<number, number>;

const ranksOf = ({ families }: Manifest): Ranks =>
  new Map(
    ALL_FAMILIES.flatMap((family) =>
      families[family].flatMap(({ tables }, rank) =>
        tables.flatMap((table) => idsIn(table).map((id) => [id, rank] as const)),
      ),
    ),
  );

function idsIn({ first, index }: Table): number[] {
  return Array.from({ length: index }, (_, at) => first + at);
}

/**
 * The order of a block. Commits of the log are newer than all blocks: their order is their number. Undefined for a
 * block that no table of the manifest refers to.
 */
function orderOf({ first }: IdRange, { newest }: Block, ranks: Ranks | undefined) {
  if (!ranks) return newest;
  const rank = ranks.get(first);
  return rank === undefined ? undefined : -1 - rank;
}

const BLOCKS_AT_A_TIME = 16;

class SpaceWalk {
  private readonly medium: Pick<Medium, 'read'>;
  private readonly places: readonly Place[];
  /** Rows of the log, in the order of their keys. */
  private readonly logged: readonly (readonly [Key, Version])[];
  private readonly report: (what: string) => void;
  /** Rows whose keys may also occur in blocks that are not read yet. */
  private readonly pending: Map<Key, Version> = new Map();

  constructor(
    medium: Pick<Medium, 'read'>,
    places: readonly Place[],
    logged: ReadonlyMap<Key, Version>,
    report: (what: string) => void,
  ) {
    this.medium = medium;
    this.places = places.toSorted((a, b) => compareScalars(a.low, b.low));
    this.logged = [...logged].sort(([a], [b]) => compareScalars(a, b));
    this.report = report;
  }

  async *rows(): AsyncGenerator<readonly Row[]> {
    let logAt = 0;
    for (let at = 0; at <= this.places.length; at += BLOCKS_AT_A_TIME) {
      await this.read(this.places.slice(at, at + BLOCKS_AT_A_TIME));
      const next = this.places[at + BLOCKS_AT_A_TIME]?.low ?? ABOVE_ALL;
      for (; ; logAt += 1) {
        const [key, version] = this.logged[logAt] ?? [];
        if (key === undefined || version === undefined || key >= next) break;
        keep(this.pending, key, version);
      }
      const rows = this.takeBelow(next);
      if (rows.length > 0) yield rows;
    }
  }

  private async read(places: readonly Place[]): Promise<void> {
    if (places.length === 0) return;
    const found = (await this.medium.read(undefined, places)).blocks;
    for (const [at, { first, order }] of places.entries()) {
      try {
        this.take(order, new Block(joinBytes((found[at] ?? []).map(({ bytes }) => bytes))));
      } catch (reason) {
        if (!(reason instanceof Malformed)) throw reason;
        this.report(`block ${first}`);
      }
    }
  }

  /** @throws Malformed */
  private take(order: number, block: Block): void {
    for (let interval = 0; interval < block.intervals; interval += 1) {
      const items = block.read(interval);
      for (const [at, raw] of items.keys.entries()) {
        const key = keyOfBytes(raw);
        const body = block.body(items, at);
        keep(this.pending, key, { order, row: body && readRowBody(key, body) });
      }
    }
  }

  private takeBelow(end: string): readonly Row[] {
    const over = [...this.pending].filter(([key]) => key < end);
    for (const [key] of over) this.pending.delete(key);
    return over.flatMap(([, { row }]) => row ?? []).sort((a, b) => compareScalars(a.key, b.key));
  }
}

function keep(versions: Map<Key, Version>, key: Key, version: Version): void {
  const before = versions.get(key);
  if (!before || before.order < version.order) versions.set(key, version);
}

interface LogRows {
  readonly rows: ReadonlyMap<Space, ReadonlyMap<Key, Version>>;
  /** Undefined if there is none, or if a later manifest may be among the unreadable records. */
  readonly manifest: Manifest | undefined;
}

/** Reads the whole log into memory. It is short, because its commits are moved into tables. */
function readLog(log: readonly LogPart[], report: (what: string) => void): LogRows {
  const rows = new Map(SPACES.map((space) => [space, new Map<Key, Version>()]));
  let manifest: Manifest | undefined;
  let isWhole = true;
  for (const { number, record } of recordsOf(log)) {
    if (!record) {
      isWhole = false;
      report(`log record ${number}`);
    } else if (record.kind === 'flip') ({ manifest } = record);
    else if (record.kind === 'commit')
      for (const { space, key, row } of record.changes)
        keep(rows.get(space) ?? new Map<Key, Version>(), key, { order: number, row });
  }
  const before = (log[0]?.number ?? 1) - 1;
  // Missing records are reported, unless they are in tables. If an unreadable record was a later manifest, more of them
  // may be in tables, so nothing is reported then.
  if (isWhole && before > (manifest?.flushed ?? 0)) report(`log record ${before}`);
  return { rows, manifest: isWhole ? manifest : undefined };
}

/** Each record of the log, or undefined in place of a record that cannot be read. */
function* recordsOf(
  log: readonly LogPart[],
): Generator<{ readonly number: number; readonly record: LogRecord | undefined }> {
  let parts: Part[] = [];
  let next = Infinity;
  for (const { number, bytes } of log) {
    if (number > next) {
      yield { number: number - 1, record: undefined };
      // Parts after a gap belong to another record.
      parts = [];
    }
    next = number + 1;
    if (bytes === undefined) continue;
    try {
      const part = readPart(bytes);
      parts = part.index === parts.length ? [...parts, part] : [part];
      if (parts.length < part.count) continue;
      yield { number, record: readRecord(joinBytes(parts.map(({ piece }) => piece))) };
    } catch (reason) {
      if (!(reason instanceof Malformed)) throw reason;
      yield { number, record: undefined };
    }
    parts = [];
  }
  // A rest that does not start with a first part belongs to a record that has been reported already.
  if (parts[0]?.index === 0) yield { number: next, record: undefined };
}
