/** Reads CSV: turns cells into values, by the types of their columns. */
import { decodeBase64 } from '../codec/base64.ts';
import { parseJson, tryParseJson, type Json } from '../codec/json.ts';
import { INT64_MAX, INT64_MIN } from '../values/number.ts';
import { parseDate, parseTime } from '../values/time.ts';
import { double, integer } from '../values/value.ts';
import { csvRows, type CsvRow } from './csv.ts';
import { DataError } from './data-error.ts';
import { documentIdIn, type Item } from './items.ts';
import { rowItem, type RowOptions } from './read-json-lines.ts';
import { documentRefText } from './wire.ts';

/** The type of a column. `ref` has the name of a collection: `ref(users)`. */
export type ColumnType =
  | 'string'
  | 'int'
  | 'double'
  | 'boolean'
  | 'date'
  | 'time'
  | 'bytes'
  | 'json'
  | `ref(${string})`;

export interface CsvOptions extends RowOptions {
  /** Types of columns by name. Other columns have the type in the header, or are strings. */
  readonly columns?: Readonly<Record<string, ColumnType>>;
  /** A comma by default. */
  readonly delimiter?: string;
}

/** Undefined if the text is not a value of the type. */
type ReadCell = (text: string) => Json | undefined;

const CELLS: Readonly<Record<string, ReadCell>> = {
  string: (text) => text,
  int: intIn,
  double: doubleIn,
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  date: (text) => (parseDate(text) ? tagged('@date', text) : undefined),
  time: (text) => (parseTime(text) ? tagged('@ts', text) : undefined),
  bytes: (text) => (decodeBase64(text) ? tagged('@bytes', text) : undefined),
  json: tryParseJson,
};

const tagged = (tag: string, text: string): Json => new Map([[tag, text]]);

function intIn(text: string): Json | undefined {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return value >= INT64_MIN && value <= INT64_MAX ? integer(value) : undefined;
}

function doubleIn(text: string): Json | undefined {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? double(value) : undefined;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly read: ReadCell;
}

export async function* csvItems(
  pieces: AsyncIterable<string>,
  options: CsvOptions,
): AsyncGenerator<Item> {
  const { delimiter = ',' } = options;
  if (delimiter.length !== 1 || /["\r\n]/.test(delimiter))
    throw new DataError('invalid_option', '`delimiter` must be one character, and no quote.');
  let columns: readonly Column[] | undefined;
  for await (const row of csvRows(pieces, delimiter)) {
    if (!columns) columns = columnsIn(row, options);
    else yield await itemOf(row, columns, options);
  }
}

/** @throws DataError `invalid_option`, `invalid_line` */
function columnsIn({ line, cells }: CsvRow, options: CsvOptions): Column[] {
  // In a file whose lines end with CR alone, the whole text would be in the first line.
  if (cells.some(({ text, isQuoted }) => !isQuoted && text.includes('\r')))
    throw new DataError('invalid_line', 'Lines must end with LF or CRLF, not with CR.', { line });
  const given = options.columns ?? {};
  const columns = cells.map(({ text }, at) => columnOf(text, given, { line, column: at + 1 }));
  const names = columns.map(({ name }) => name);
  // In countries with a decimal comma, spreadsheets write semicolons: each line would be read as one cell.
  if (!options.delimiter && names.length === 1 && /[;\t]/.test(names.join()))
    throw new DataError('invalid_option', `\`delimiter\`: '${names.join()}' has no comma.`);
  const twice = names.findIndex((name, at) => names.indexOf(name) < at);
  if (twice >= 0) {
    const sentence = `The column '${names[twice]}' is there twice.`;
    throw new DataError('invalid_line', sentence, { line, column: twice + 1 });
  }
  const missing = [...Object.keys(given), options.id].find(
    (name) => name !== undefined && !names.includes(name),
  );
  if (missing === undefined) return columns;
  throw new DataError('invalid_option', `There is no column '${missing}' in the first line.`);
}

interface Place {
  readonly line: number;
  readonly column: number;
}

function columnOf(text: string, given: CsvOptions['columns'], place: Place): Column {
  const colon = text.lastIndexOf(':');
  const known = given && Object.hasOwn(given, text) ? given[text] : undefined;
  const [name, type] =
    known !== undefined || colon < 0
      ? [text, known ?? 'string']
      : [text.slice(0, colon), text.slice(colon + 1)];
  const own = given && Object.hasOwn(given, name) ? given[name] : undefined;
  const read = readerOf(own ?? type);
  if (read) return { name, type: own ?? type, read };
  const sentence = `The type '${own ?? type}' of '${name}' is unknown. Known are ${Object.keys(CELLS).join(', ')} and ref(collection).`;
  throw new DataError('invalid_line', sentence, place);
}

function readerOf(type: string): ReadCell | undefined {
  if (Object.hasOwn(CELLS, type)) return CELLS[type];
  const collection = /^ref\((.+)\)$/.exec(type)?.[1];
  if (collection === undefined) return undefined;
  return (text) => {
    const id = documentIdIn(text);
    return id === undefined ? undefined : parseJson(documentRefText(collection, id));
  };
}

async function itemOf(
  { line, cells }: CsvRow,
  columns: readonly Column[],
  options: CsvOptions,
): Promise<Item> {
  if (cells.length !== columns.length) {
    const sentence = `It has ${cells.length} cells, the first line has ${columns.length}.`;
    throw new DataError('invalid_line', sentence, { line });
  }
  const row = new Map<string, Json>();
  for (const [at, { text, isQuoted }] of cells.entries()) {
    const column = columns[at];
    // Nothing between two commas is no value.
    if (!column || (text === '' && !isQuoted)) continue;
    const value = column.read(text);
    if (value === undefined) {
      const sentence = `${JSON.stringify(text.slice(0, 60))} is not of the type ${column.type} of '${column.name}'.`;
      throw new DataError('invalid_line', sentence, { line, column: at + 1 });
    }
    row.set(column.name, value);
  }
  const text = cells.map((each) => each.text).join('\u0000');
  return rowItem(row, { number: line, text }, options);
}
