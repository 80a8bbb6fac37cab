import { BUILDER_ROWS, type BuilderRow } from './builder-table.ts';
import { isExpr } from './is-expr.ts';

type Form = Readonly<Record<string, unknown>>;

/** The expression as source code: `Get(Ref(Collection("notes"), "1"))`. For people and error reports. */
export function printExpression(expression: unknown): string {
  const form = unwrapped(expression);
  if (typeof form === 'bigint') return `${form}n`;
  if (Array.isArray(form)) return `[${list(form)}]`;
  if (typeof form !== 'object' || form === null) return JSON.stringify(form) ?? 'undefined';
  return printForm(form as Form);
}

const list = (parts: readonly unknown[]): string => parts.map(printExpression).join(', ');

/** The wire form of an expression, unwrapped one level deep. */
const unwrapped = (expression: unknown): unknown =>
  isExpr(expression) ? unwrapped(expression.toJSON()) : expression;

function printLambda({ lambda, expr }: Form): string {
  return `Lambda(${list([lambda, expr])})`;
}

/** Forms that no row of the builder table describes, each under the first key of the form. */
const SPECIAL: Readonly<Record<string, (form: Form) => string>> = {
  object: (form) => printMembers(unwrapped(form['object']) as Form),
  do: (form) => `Do(${list(unwrapped(form['do']) as unknown[])})`,
  lambda: printLambda,
  // In answers, `api_version` is the first key of a lambda.
  api_version: printLambda,
  range: ({ range, from = [], to = [] }) => `Range(${list([range, from, to])})`,
  paginate: ({ paginate, ...options }) =>
    `Paginate(${printExpression(paginate)}${Object.keys(options).length > 0 ? `, ${printMembers(options)}` : ''})`,
  let: (form) => `Let(${printBindings(form['let'])}, ${list([form['in']])})`,
  ref: ({ ref, id }) => `Ref(${list([ref, id])})`,
  '@ref': (form) => printRef(form['@ref']),
  '@ts': (form) => `Time(${printExpression(form['@ts'])})`,
  '@date': (form) => `Date(${printExpression(form['@date'])})`,
  '@bytes': (form) => `Bytes(${printExpression(form['@bytes'])})`,
  '@uuid': (form) => `Uuid(${printExpression(form['@uuid'])})`,
  '@set': (form) => printExpression(form['@set']),
  '@query': (form) => `Query(${printExpression(form['@query'])})`,
};

let rowsByKey: ReadonlyMap<string, BuilderRow> | undefined;

function printForm(form: Form): string {
  const first = Object.keys(form)[0] ?? '';
  if (Object.hasOwn(SPECIAL, first)) return SPECIAL[first]?.(form) ?? '';
  rowsByKey ??= new Map(BUILDER_ROWS.map((row) => [row.keys[0]?.key ?? '', row]));
  const row = rowsByKey.get(first);
  return row ? `${row.name}(${printArguments(row, form)})` : printMembers(form);
}

function printArguments({ keys, swapped }: BuilderRow, form: Form): string {
  const given = keys.findLastIndex(
    ({ key, mark }) => form[key] !== undefined && (form[key] !== null || /^[*~]?$/.test(mark)),
  );
  const words = keys.slice(0, given + 1).flatMap(({ key, mark }, at) => {
    const part = unwrapped(form[key]) ?? null;
    const many = mark === '*' && Array.isArray(part) && part.length !== 1 && at + part.length > 0;
    return many ? (part as unknown[]).map(printExpression) : [printExpression(part)];
  });
  return (swapped ? words.reverse() : words).join(', ');
}

const printBindings = (bindings: unknown): string =>
  Array.isArray(bindings)
    ? `[${bindings.map(printMembers).join(', ')}]`
    : printMembers(bindings as Form);

const printMembers = (members: Form): string =>
  `{${Object.entries(members)
    .map(([key, member]) => `${JSON.stringify(key)}: ${printExpression(member)}`)
    .join(', ')}}`;

/** Native collections whose documents are identified by name, each with the builder that makes a ref by name. */
export const NAMED: Readonly<Record<string, string>> = {
  collections: 'Collection',
  databases: 'Database',
  indexes: 'Index',
  functions: 'Function',
  roles: 'Role',
  access_providers: 'AccessProvider',
};

interface WireRef {
  readonly id: string;
  readonly collection?: unknown;
  readonly database?: unknown;
}

function printRef(ref: unknown): string {
  if (typeof (ref as WireRef | null)?.id !== 'string') return `Ref(${list([ref])})`;
  const { id, collection, database } = ref as WireRef;
  const scope = database === undefined ? '' : printExpression(database);
  if (collection === undefined) {
    const name = id.replace(/(?:^|_)./g, (start) => start.slice(-1).toUpperCase());
    return `${name}(${scope})`;
  }
  const kind = (unwrapped(collection) as { readonly '@ref'?: WireRef })['@ref'];
  const named = kind?.collection === undefined ? NAMED[kind?.id ?? ''] : undefined;
  if (named) return `${named}(${JSON.stringify(id)}${scope && `, ${scope}`})`;
  return `Ref(${list([collection, id])})`;
}
