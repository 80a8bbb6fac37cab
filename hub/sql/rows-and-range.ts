/**
 * Reads rows by key and one range in a single statement. A single statement sees one snapshot, so it needs no transaction around
 * it. Most reads have this form: a page together with the head row.
 */
import type { Range } from '../../src/store/port.ts';
import type { SqlResult, Statement } from './sql-client.ts';
import { keyOf } from './sql-values.ts';

const ROW_COLUMNS = ['kind', 'body', 'bytes', 'entries'];
const TYPES: Readonly<Record<string, string>> = {
  entry: 'bytea',
  tail: 'bytea',
  key: 'bytea',
  kind: 'smallint',
  body: 'text',
  bytes: 'bytea',
  entries: 'bytea',
  upto: 'bigint',
};

export interface RangePart {
  readonly range: Range;
  readonly statement: Statement;
  /** Whether the statement has a last column `upto`: the sum of bytes up to and including the row. */
  readonly isBounded: boolean;
}

const columnsOf = ({ range: { by, rows }, isBounded }: RangePart): readonly string[] => [
  ...(by === 'key' ? ['key'] : ['entry', 'tail', 'key']),
  ...(rows ? ROW_COLUMNS : []),
  ...(isBounded ? ['upto'] : []),
];

const texts = new Map<string, string>();

export function joinStatements(rows: Statement, part: RangePart): Statement {
  const { statement } = part;
  const [tenant, ...rest] = rows.values;
  const name = `${statement.name}_beside`;
  let text = texts.get(name);
  if (text === undefined) texts.set(name, (text = joinedText(rows, part)));
  return { name, text, values: [tenant ?? null, ...statement.values.slice(1), ...rest] };
}

/**
 * Columns: the number of the wanted row (null for a row of the range), the columns of the range, then the row columns that the
 * range lacks.
 */
function joinedText(rows: Statement, part: RangePart): string {
  const { text, values } = part.statement;
  const own = columnsOf(part);
  const more = ROW_COLUMNS.filter((column) => !own.includes(column));
  const nothing = (column: string): string => `NULL::${TYPES[column]}`;
  const ofRows = [...own, ...more].map((column) =>
    ROW_COLUMNS.includes(column) ? column : nothing(column),
  );
  const moved = rows.text.replaceAll(/\$(\d+)/g, (parameter, n: string) =>
    n === '1' ? parameter : `$${Number(n) + values.length - 1}`,
  );
  return `SELECT n, ${ofRows.join(', ')} FROM (${moved}) AS wanted_rows
 UNION ALL SELECT NULL::integer, ${[...own, ...more.map(nothing)].join(', ')} FROM (${text}) AS found_range`;
}

/** The results that the two statements would have had if they had been sent alone. */
export function partResults(
  part: RangePart,
  { command, rows }: SqlResult,
): readonly [SqlResult, SqlResult] {
  const own = columnsOf(part);
  const end = 1 + own.length;
  const indexes = [0, ...ROW_COLUMNS.map((column) => columnIndex(own, column))];
  const ofRows: SqlResult['rows'][number][] = [];
  const ofRange: SqlResult['rows'][number][] = [];
  for (const row of rows) {
    if (row[0] === null) ofRange.push(row.slice(1, end));
    else ofRows.push(indexes.map((at) => row[at] ?? null));
  }
  const sorted = inOrder(part.range, ofRange);
  return [
    { command, count: ofRows.length, rows: ofRows },
    { command, count: sorted.length, rows: sorted },
  ];
}

const columnIndex = (own: readonly string[], column: string): number => {
  const at = own.indexOf(column);
  if (at >= 0) return 1 + at;
  const more = ROW_COLUMNS.filter((each) => !own.includes(each));
  return 1 + own.length + more.indexOf(column);
};

/** Hexadecimal digits are in the order of the bytes as they are; the other output format is not. */
const comparable = (column: string): string => (column.startsWith('\\x') ? column : keyOf(column));

/** Sorts the rows: servers keep the order inside a branch of UNION ALL in practice, but none documents it. */
function inOrder(
  { by, reverse }: Range,
  rows: readonly SqlResult['rows'][number][],
): readonly SqlResult['rows'][number][] {
  const width = by === 'key' ? 1 : 3;
  return rows.toSorted((a, b) => {
    for (let i = 0; i < width; i++) {
      const [x, y] = [comparable(a[i] ?? ''), comparable(b[i] ?? '')];
      if (x !== y) return x < y !== reverse ? -1 : 1;
    }
    return 0;
  });
}
