/** What can be wrong with an export, an import or its source. */
import { wrongOptions } from '../values/wrong-options.ts';

export type DataErrorCode =
  /** Documents or schema objects exist already with other contents. Nothing was written. */
  | 'clash'
  /** A part of the source is missing. */
  | 'incomplete'
  /** The source differs from what was written. */
  | 'damaged'
  /** The source was written by a newer version of the library. */
  | 'newer_format'
  /** A line or a cell cannot be read. */
  | 'invalid_line'
  | 'line_too_long'
  /** The database refused a query; `errors` has the reasons. */
  | 'refused'
  /** It is unknown whether the database executed a query that writes; `errors` has its answer. */
  | 'outcome_unknown'
  /** The history that the export still had to read was removed in the meantime. */
  | 'history_gone'
  | 'invalid_option';

/** One error of a refused query. */
export interface DataRefusal {
  readonly code: string;
  readonly description: string;
}

interface Details extends ErrorOptions {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly errors?: readonly DataRefusal[];
}

/**
 * An export or an import failed.
 * @example
 * const failure = await importDatabase(db, new Blob(['no export'])).catch((error) => error);
 * console.log(failure instanceof DataError); // true
 */
export class DataError extends Error {
  readonly code: DataErrorCode;
  /** Line of the source, from 1. */
  readonly line: number | undefined;
  /** Column of a CSV file, from 1. */
  readonly column: number | undefined;
  /** The errors in the database's answer. */
  readonly errors: readonly DataRefusal[];

  /** @internal */
  constructor(code: DataErrorCode, sentence: string, details: Details = {}) {
    const { line, column, errors = [], ...options } = details;
    super(placed(sentence, line, column), options);
    this.name = 'DataError';
    this.code = code;
    this.line = line;
    this.column = column;
    this.errors = errors;
  }
}

const placed = (sentence: string, line?: number, column?: number): string =>
  line === undefined
    ? sentence
    : `Line ${line}${column === undefined ? '' : `, column ${column}`}: ${sentence}`;

/** Types of the options that exports and imports share, and of the options for rows. */
const TYPES = {
  secret: 'string',
  onProgress: 'function',
  history: 'boolean',
  gzip: 'boolean',
  id: 'string',
  delimiter: 'string',
  columns: 'object',
} as const;

/** @throws DataError `invalid_option` */
export function requireKnown(given: object, known: readonly string[]): void {
  const wrong = wrongOptions(given, known) ?? wrongType({ ...given });
  if (wrong !== undefined) throw new DataError('invalid_option', wrong);
}

function wrongType(options: Readonly<Record<string, unknown>>): string | undefined {
  // The secret may be that of a user who has logged out: the admin must not take the user's place.
  if ('secret' in options && !options['secret'])
    return '`secret` is empty: leave it out to use the root secret.';
  for (const [name, type] of Object.entries(TYPES)) {
    const value = options[name];
    if (value !== undefined && (value === null || typeof value !== type))
      return `\`${name}\` must be of type ${type}.`;
  }
  const signal = options['signal'] as Partial<AbortSignal> | undefined;
  return signal === undefined || signal?.throwIfAborted
    ? undefined
    : '`signal` must be an AbortSignal.';
}

/** Whether the database refused a query with one of these codes. */
export const isRefusal = (reason: unknown, ...codes: readonly string[]): boolean =>
  reason instanceof DataError && reason.errors.some(({ code }) => codes.includes(code));
