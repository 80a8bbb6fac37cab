/** The lines of an export that are neither schema nor documents: the first and the last one. */
import { quote, stringifyJson, tryParseJson, type Json, type JsonObject } from '../codec/json.ts';
import { DataError } from './data-error.ts';
import { isObject, itemsOf, textIn } from './wire.ts';

const FORMAT = 'burrow-export';
/** Incremented when a reader of the previous version would read something wrong. */
const VERSION = 1;

export interface ExportHeader {
  /** The time as of which everything was read, as text. */
  readonly at: string;
  readonly hasHistory: boolean;
  /** Kinds of objects that the database has and an export does not contain: credentials, tokens, keys, child databases. */
  readonly omitted: readonly string[];
}

export interface ExportTrailer {
  readonly lines: number;
  readonly sha256: string;
}

/** @param collections names of the collections whose documents follow */
export const headerLine = ({
  at,
  hasHistory,
  collections,
  omitted,
}: ExportHeader & { readonly collections: readonly string[] }): string =>
  stringifyJson(
    new Map<string, Json>([
      ['format', FORMAT],
      ['version', VERSION],
      ['at', at],
      ['history', hasHistory],
      ['collections', collections.map((name) => new Map([['name', name]]))],
      ['omitted', omitted],
    ]),
  );

/** Whether a source with this first line is an export. */
export const isExport = (line: string): boolean => jsonIn(line)?.get('format') === FORMAT;

/** @throws DataError */
export function readHeader(line: string): ExportHeader {
  const json = jsonIn(line);
  if (json?.get('format') !== FORMAT)
    throw new DataError('invalid_line', 'The source is not an export of a database.', { line: 1 });
  const version = json.get('version');
  if (typeof version !== 'number' || version > VERSION) {
    const sentence = `The export has version ${stringifyJson(version ?? null)}, this library reads up to ${VERSION}: update it.`;
    throw new DataError('newer_format', sentence);
  }
  return {
    at: textIn(json.get('at')) ?? '',
    hasHistory: json.get('history') === true,
    omitted: itemsOf(json.get('omitted')).flatMap((each) => textIn(each) ?? []),
  };
}

export const trailerLine = ({ lines, sha256 }: ExportTrailer): string =>
  `{"end":{"lines":${lines},"sha256":${quote(sha256)}}}`;

/** Undefined if the line is not a trailer. */
export function trailerIn(json: JsonObject): ExportTrailer | undefined {
  const end = json.get('end');
  const lines = isObject(end) ? end.get('lines') : undefined;
  const sha256 = isObject(end) ? end.get('sha256') : undefined;
  return typeof lines === 'number' && typeof sha256 === 'string' ? { lines, sha256 } : undefined;
}

function jsonIn(line: string): JsonObject | undefined {
  const json = tryParseJson(line);
  return isObject(json) ? json : undefined;
}
