/**
 * The query log. Records are buffered in memory and written in batches, so that logging costs a query next to nothing. A crash loses the
 * buffer: on a busy host at most `BATCH_RECORDS` records, otherwise those since the last `flush()`.
 */
import { hexOfBytes } from '../codec/hex.ts';
import { keyAfter, logKey, metaKey, type Key } from '../codec/key.ts';
import type { EngineOptions } from '../engine/host.ts';
import type { Entry, Row, RowAddress, Store, WriteSet, WriteTx } from '../store/port.ts';
import { scan } from '../store/scan.ts';
import { DAY_MICROS } from '../values/time.ts';
import type { Micros } from '../values/value.ts';
import {
  readStoredLine,
  storedLine,
  type FoundRecord,
  type LoggedAnswer,
  type LoggedRequest,
} from './record.ts';
import { QUERY_KEPT_CHARACTERS } from './redact.ts';

export interface QueryLogOptions extends Pick<EngineOptions, 'clock' | 'random' | 'pause'> {
  readonly store: Store;
  readonly retentionDays: number;
  /** Maximum size of the stored text, in characters. The oldest records are removed first. */
  readonly maxBytes: number;
}

export const LOG_DEFAULTS = { retentionDays: 30, maxBytes: 64 * 1024 * 1024 } as const;

/** Transactions of the log use none of the spaces of queries, so that the log and queries do not wait for each other. */
const COLD = { durability: 'relaxed', spaces: ['log', 'files'] } as const;

/** A batch is written when this many records are buffered. */
export const BATCH_RECORDS = 512;
/** Maximum number of records buffered while a batch is being written. Further records are counted as lost. */
export const WAITING_RECORDS_MAX = 4096;
const ROW_CHARACTERS_MAX = 256 * 1024;
/** Characters of queries that are redacted without a pause. This takes a few milliseconds. */
const TURN_CHARACTERS = 128 * 1024;
/** A record counts as this many characters in addition to its query. */
const RECORD_CHARACTERS = 2048;
/** Maximum time between the records of one row, so that a reader of a time range knows at which row to begin. */
export const ROW_SPAN_MICROS = 60 * 1_000_000;
/**
 * Maximum number of rows that one write removes. It is more than twice the number that a write adds, so the log shrinks to its limit in
 * bounded steps.
 */
const TRIM_ROWS = 16;

/** Not in the space `meta`, because every query reads that space. */
const SIZE: RowAddress = { space: 'files', key: metaKey('log size') };

interface Waiting {
  readonly request: LoggedRequest;
  readonly answer: LoggedAnswer;
  readonly requestId: string;
}

export class QueryLog {
  private readonly options: QueryLogOptions;
  private readonly idPrefix: string;
  private readonly sequenceBase: number;
  private recorded = 0;
  private rowsMade = 0;
  private lost = 0;
  private waiting: Waiting[] = [];
  private writing: Promise<void> | undefined = undefined;

  constructor(options: QueryLogOptions) {
    this.options = options;
    const random = options.random(12);
    this.idPrefix = hexOfBytes(random.subarray(0, 6));
    this.sequenceBase = random.subarray(6).reduce((sum, byte) => sum * 256 + byte, 0);
  }

  /** Buffers a record. Returns at once and never throws. */
  add(request: LoggedRequest, answer: LoggedAnswer): void {
    this.recorded += 1;
    if (this.waiting.length >= WAITING_RECORDS_MAX) {
      this.lost += 1;
      return;
    }
    const requestId = `${this.idPrefix}-${this.recorded}`;
    this.waiting.push({ ...withoutUnstored(request, answer), requestId });
    if (this.waiting.length >= BATCH_RECORDS) this.writing ??= this.writeWaiting();
  }

  /** Resolves when all records so far are stored, or counted as lost. Never rejects. */
  async flush(): Promise<void> {
    await this.writing;
    // The running write may have begun before the latest records were added; one more write includes them all.
    if (this.isDirty) await (this.writing ??= this.writeWaiting());
  }

  /** Whether `flush()` has records to write. */
  get isDirty(): boolean {
    return this.waiting.length > 0 || this.writing !== undefined;
  }

  /** Number of records since the log was opened, and how many of them could not be stored. */
  get counts(): { readonly recorded: number; readonly lost: number } {
    return { recorded: this.recorded, lost: this.lost };
  }

  /** Removes expired records. Each write does so, too, but there may be no write for a long time. */
  async trim(): Promise<void> {
    while ((await this.options.store.write((tx) => this.store(tx, []), COLD)) > 0)
      await this.options.pause();
  }

  private async writeWaiting(): Promise<void> {
    let batch: readonly Waiting[] = [];
    try {
      // Lets the query whose record filled the batch get its answer first.
      await this.options.pause();
      batch = this.waiting;
      this.waiting = [];
      const rows = await this.rowsOf(batch);
      await this.options.store.write((tx) => this.store(tx, rows), COLD);
    } catch {
      // A failure of the log must not fail a query; `counts` reports it.
      this.lost += batch.length;
    } finally {
      this.writing = undefined;
    }
    if (this.waiting.length >= BATCH_RECORDS) this.writing = this.writeWaiting();
  }

  private async rowsOf(batch: readonly Waiting[]): Promise<readonly Row[]> {
    const rows: Row[] = [];
    let chars = 0;
    let open: OpenRow | undefined;
    const close = (): void => {
      if (!open) return;
      const key = logKey(open.to, this.sequenceBase + this.rowsMade);
      this.rowsMade += 1;
      rows.push({ key, entries: [], value: open.text });
    };
    for (const { request, answer, requestId } of batch) {
      chars += request.query.length + RECORD_CHARACTERS;
      if (chars > TURN_CHARACTERS) {
        chars = 0;
        await this.options.pause();
      }
      const line = `${storedLine(request, answer, requestId)}\n`;
      if (!open || !fits(open, request.ts, line)) {
        close();
        open = { from: request.ts, to: request.ts, text: '' };
      }
      open.from = Math.min(open.from, request.ts);
      open.to = Math.max(open.to, request.ts);
      open.text += line;
    }
    close();
    return rows;
  }

  /** Adds rows and removes old ones, in one commit. @returns the number of rows removed */
  private async store(tx: WriteTx, rows: readonly Row[]): Promise<number> {
    const expired = { ...OLDEST, upper: logKey(this.expiry(), 0), limit: TRIM_ROWS };
    const found = await tx.fetch([SIZE], [expired]);
    const old = [...(found.ranges[0] ?? [])];
    const added = rows.reduce((sum, row) => sum + row.value.length, 0);
    let bytes = sizeOf(found.rows[0]) + added - sizeOfRows(old);
    if (bytes > this.options.maxBytes && old.length < TRIM_ROWS) {
      const lower = old.at(-1)?.key;
      const range = {
        ...OLDEST,
        ...(lower !== undefined && { lower: keyAfter(lower) }),
        limit: TRIM_ROWS,
      };
      for (const entry of (await tx.fetch([], [range])).ranges[0] ?? []) {
        if (bytes <= this.options.maxBytes) break;
        old.push(entry);
        bytes -= sizeOfRows([entry]);
      }
    }
    if (rows.length + old.length > 0) tx.apply(this.changes(rows, old, bytes));
    return old.length;
  }

  private changes(rows: readonly Row[], old: readonly Entry[], bytes: number): WriteSet {
    const size: Row = { key: SIZE.key, entries: [], value: JSON.stringify({ bytes }) };
    return {
      puts: [
        ...rows.map((row) => ({ space: 'log' as const, row })),
        { space: SIZE.space, row: size },
      ],
      deletes: old.map(({ key }) => ({ space: 'log', key })),
    };
  }

  private expiry(): Micros {
    return Math.max(0, this.options.clock() - this.options.retentionDays * DAY_MICROS);
  }
}

/** Drops what is not stored, because it may be large and thousands of records may be buffered. */
const withoutUnstored = (
  request: LoggedRequest,
  answer: LoggedAnswer,
): Pick<Waiting, 'request' | 'answer'> => ({
  request: request.query.length > QUERY_KEPT_CHARACTERS ? { ...request, query: '' } : request,
  answer: { ...answer, readSet: undefined, errorPosition: undefined },
});

interface OpenRow {
  from: Micros;
  to: Micros;
  text: string;
}

const fits = (row: OpenRow, ts: Micros, line: string): boolean =>
  row.text.length + line.length <= ROW_CHARACTERS_MAX &&
  Math.max(row.to, ts) - Math.min(row.from, ts) <= ROW_SPAN_MICROS;

const OLDEST = scan(
  'log',
  { lower: logKey(0, 0), upper: logKey(Number.MAX_SAFE_INTEGER, 0) },
  { limit: TRIM_ROWS },
);

const sizeOfRows = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { row }) => sum + (row?.value.length ?? 0), 0);

/** The cast is safe, because only `changes` makes such a row. */
const sizeOf = (row: Row | undefined): number =>
  row ? (JSON.parse(String(row.value)) as { readonly bytes: number }).bytes : 0;

export interface LogRange {
  /** Inclusive. */
  readonly start: Micros;
  /** Exclusive. */
  readonly end: Micros;
  /** Only records of this database and its child databases. */
  readonly database: readonly string[];
}

const READ_ROWS = 4;

/** Reads the records of a range, a few rows at a time, in the order in which the rows were written. */
export async function* readLog(
  store: Store,
  range: LogRange,
): AsyncGenerator<readonly FoundRecord[]> {
  let lower: Key = logKey(Math.max(0, range.start), 0);
  const upper = logKey(Math.min(range.end + ROW_SPAN_MICROS, Number.MAX_SAFE_INTEGER), 0);
  for (;;) {
    const ranges = [{ ...OLDEST, lower, upper, limit: READ_ROWS }];
    const [entries = []] = (await store.read((tx) => tx.fetch([], ranges), COLD)).ranges;
    const last = entries.at(-1);
    if (!last) return;
    yield entries.flatMap(({ row }) => recordsWithin(row, range));
    if (entries.length < READ_ROWS) return;
    lower = keyAfter(last.key);
  }
}

function recordsWithin(row: Row | undefined, { start, end, database }: LogRange): FoundRecord[] {
  if (typeof row?.value !== 'string') return [];
  return row.value
    .trimEnd()
    .split('\n')
    .map(readStoredLine)
    .filter(({ ts }) => ts >= start && ts < end)
    .filter((record) => database.every((name, index) => record.database[index] === name));
}
