/** Errors of a refused query: their descriptions, and their positions in what was written. */
import { parseJson, type Json } from '../codec/json.ts';
import { DataError, type DataRefusal } from './data-error.ts';
import { idOfRef, isObject, itemsOf, refIn, schemaName, textIn } from './wire.ts';

interface Failure {
  readonly code: string | undefined;
  readonly description: string;
  /** Path to the invalid value: members and elements of what was written. */
  readonly path: readonly string[];
}

/** One error of an answer. */
export interface QueryError {
  readonly code: string;
  readonly description: string;
  /** Position in the query. */
  readonly position: readonly string[];
  readonly failures: readonly Failure[];
}

/** The source of a document, or of a version of a document. */
interface WrittenLine {
  readonly line: number;
  readonly params: string;
  readonly isRow?: boolean;
}

/** A refusal for what a query contains. @internal */
export class RefusedQuery extends DataError {
  readonly queryErrors: readonly QueryError[];

  constructor(queryErrors: readonly QueryError[], status: number) {
    const errors = queryErrors.map(refusalOf);
    super('refused', refusedText('a query', errors, status), { errors });
    this.queryErrors = queryErrors;
  }

  /** The same error, described as that of what was written. */
  of(what: string, errors = this.errors, line?: number): DataError {
    return new DataError('refused', refusedText(what, errors), { line, errors, cause: this });
  }
}

export const refusedText = (what: string, errors: readonly DataRefusal[], status = 0): string =>
  `The database refused ${what}: ${whyOf(errors, status)}`;

/** Describes the first of the errors. */
export const whyOf = ([first]: readonly DataRefusal[], status: number): string =>
  first ? `${first.code}: ${first.description}` : `status ${status}`;

export function queryErrorsIn(json: Json): QueryError[] {
  const code = isObject(json) ? textIn(json.get('code')) : undefined;
  if (!isObject(json) || code === undefined) return [];
  const position = stepsIn(json.get('position'));
  return [
    {
      code,
      description: textIn(json.get('description')) ?? '',
      position,
      failures: itemsOf(json.get('failures')).map((each) => failureIn(each, position)),
    },
  ];
}

const stepsIn = (json: Json | undefined): readonly string[] => itemsOf(json).map(String);

/** Removes the position of the write from a failure's path: some paths begin with it. */
function failureIn(json: Json, position: readonly string[]): Failure {
  const failure = isObject(json) ? json : new Map<string, Json>();
  const field = stepsIn(failure.get('field'));
  const isInside = position.length > 0 && position.every((step, at) => step === field[at]);
  return {
    code: textIn(failure.get('code')),
    description: textIn(failure.get('description')) ?? '',
    path: isInside ? field.slice(position.length) : field,
  };
}

export const refusalOf = ({ code, description, failures }: QueryError): DataRefusal => ({
  code,
  description: [description, ...failures.map(shown)].filter(Boolean).join(' '),
});

const shown = ({ path, description }: Failure): string => `${path.join('.')}: ${description}`;

/**
 * The error of a line, described for that line.
 * @param refused the error of a query that writes only this line
 * @param paramsAt position of the document's parameters in the query
 */
export function refusedLine(
  item: WrittenLine,
  refused: RefusedQuery,
  paramsAt: readonly string[],
): DataError {
  return refused.of('it', refusalsOfLine(item, refused.queryErrors, paramsAt), item.line);
}

/** The errors of a line, as in `refusedLine()`. */
export const refusalsOfLine = (
  item: WrittenLine,
  errors: readonly QueryError[],
  paramsAt: readonly string[],
): DataRefusal[] => errors.map((each) => refusalOf(inItem(item, each, paramsAt)));

const STILL_TO_COME =
  'Its time is later than the clock of this database: set the clock, or import without history and --keep-ts.';

function inItem(item: WrittenLine, error: QueryError, paramsAt: readonly string[]): QueryError {
  if (error.code === 'invalid write time') return { ...error, description: STILL_TO_COME };
  const path = pathInParams(error.position, paramsAt);
  if (path.length > 0 && error.failures.length === 0) {
    const { code, description } = error;
    return { ...error, description: '', failures: [{ code, description, path: own(item, path) }] };
  }
  const failures = error.failures.map((each) => ({
    ...each,
    description: missingAt(item.params, each) ?? each.description,
    path: own(item, each.path),
  }));
  return { ...error, failures };
}

/** A path in the row instead of the document: a row is the data of its document. */
const own = (item: WrittenLine, path: readonly string[]): readonly string[] =>
  item.isRow && path[0] === 'data' ? path.slice(1) : path;

/** Path in the parameters, for a position in the query; empty if the position is outside of the parameters. */
function pathInParams(position: readonly string[], paramsAt: readonly string[]): readonly string[] {
  const path: string[] = [];
  if (!paramsAt.every((step, at) => step === position[at])) return path;
  const steps = position.slice(paramsAt.length);
  for (let next = 0; next < steps.length; next++) {
    // In wire form an object is wrapped, and wrapped again if a member of it looks like a tag.
    const isWrapped = steps[next] === 'object';
    if (isWrapped) next += steps[next + 1] === '@obj' ? 2 : 1;
    const step = steps[next];
    // The following steps are inside a value.
    if (step === undefined || !(isWrapped || /^\d+$/.test(step))) break;
    path.push(step);
  }
  return path;
}

/** Describes a missing object that a document refers to; undefined if the failure is another one. */
function missingAt(params: string, { code, path }: Failure): string | undefined {
  if (code !== 'invalid reference') return undefined;
  let value: Json | undefined = parseJson(params);
  for (const step of path) {
    const inside: Json | undefined = isObject(value) ? value.get('object') : value;
    const members: Json | undefined = isObject(inside) ? (inside.get('@obj') ?? inside) : inside;
    value = isObject(members) ? members.get(step) : itemsOf(members)[Number(step)];
  }
  const [name, kind] = schemaNameIn(value);
  if (name === undefined || kind === undefined) return undefined;
  return `The ${schemaName(kind, name)} does not exist, or the key may not read it: create it before the import.`;
}

/** Name and kind of the schema object in a ref, or of the collection if the ref is that of a document. */
function schemaNameIn(ref: Json | undefined): readonly (string | undefined)[] {
  const collection = refIn(ref)?.get('collection');
  // Refs into other databases are always refused, even if their target exists.
  if (refIn(ref)?.has('database')) return [];
  return refIn(collection)?.has('collection')
    ? schemaNameIn(collection)
    : [idOfRef(ref), idOfRef(collection)];
}
