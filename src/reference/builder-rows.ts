/**
 * Generates the builders and their types from the table of functions and the docs. A new function needs only its rows
 * there.
 */
import { rowsIn, type BuilderRow } from '../client/queries/builder-table.ts';
import { FUNCTION_ROWS } from '../query/table.ts';
import type { Form, Parameter } from '../query/function-row.ts';
import { FAMILIES, isOwnForm } from './families.ts';
import type { Family, FormDocs } from './form-docs.ts';
import { parametersOf } from './parameter-nouns.ts';

/**
 * Rows of builders whose parameters differ from those of their function, by the key that names the form. They follow
 * the driver of the original. Undefined: the builder is written by hand (`specialBuilders`).
 */
const IRREGULAR: Readonly<Record<string, string | undefined>> = {
  ref: undefined,
  paginate: undefined,
  at: 'At expr',
  var: 'Var',
  if: 'If then else',
  call: 'Call arguments*',
  query: 'Query',
  map: 'Map% collection',
  foreach: 'Foreach% collection',
  filter: 'Filter% collection',
  create: 'Create params~',
  update: 'Update params',
  replace: 'Replace params',
  insert: 'Insert ts action params',
  match: 'Match terms*',
  identity: 'Identity-',
  current_identity: 'CurrentIdentity-',
  has_identity: 'HasIdentity-',
  has_current_identity: 'HasCurrentIdentity-',
  current_token: 'CurrentToken-',
  has_current_token: 'HasCurrentToken-',
  concat: 'Concat+ separator?',
  casefold: 'Casefold+ normalizer?',
  now: 'Now-',
  next_id: 'NextId-',
  new_id: 'NewId-',
  database: 'Database scope~',
  index: 'Index scope~',
  class: 'Class scope~',
  collection: 'Collection scope~',
  function: 'Function scope~',
  select: 'Select from default~',
  select_all: 'SelectAll from',
  max: 'Max*',
  min: 'Min*',
  round: 'Round+ precision?',
  trunc: 'Trunc+ precision?',
  hypot: 'Hypot+ b?',
  pow: 'Pow+ exp?',
  and: 'And*',
  or: 'Or*',
  access_provider: 'AccessProvider',
};

/** The rows of all builders, in the order of the reference. */
export const builderRows = (): string =>
  FAMILIES.flatMap(({ docs }) =>
    Object.entries(docs).flatMap(
      ([key, doc]) => (key in IRREGULAR ? IRREGULAR[key] : regularRow(key, doc)) ?? [],
    ),
  ).join(',');

/** Returns undefined if the form has no builder. */
function regularRow(key: string, docs: FormDocs): string | undefined {
  const row = FUNCTION_ROWS.find((each) => each.name === key);
  const name = builderIn(key, docs);
  if (!row || name === undefined) return undefined;
  const [first = '', ...rest] = Object.entries<Parameter<unknown>>(row.form).map(
    ([word, { optional, type }], at, all) => {
      if (optional) return `${word}?`;
      if (type.endsWith(' or Null')) return `${word}!`;
      return at === all.length - 1 && /[*+]$/.test(type) ? `${word}*` : word;
    },
  );
  const isNamed = snakeCase(name) === key;
  const head = isNamed ? name + first.slice(key.length) : `${name}=${first}`;
  return [head, ...rest].join(' ');
}

/** The name of the builder that the example of a form calls. */
const builderIn = (key: string, { example }: FormDocs): string | undefined =>
  (example.match(/\w+(?=\()/g) ?? []).find((word) => plain(word) === plain(key));

const plain = (name: string): string => name.toLowerCase().replaceAll('_', '');
const snakeCase = (name: string): string => name.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();

/** Families whose functions take and return scalars, which no type parameter distinguishes. */
const SCALAR_FAMILIES: ReadonlySet<string> = new Set(['strings', 'numbers', 'time', 'types']);

/** Functions of these families with types written by hand, in `types/scalars.ts`. */
const TYPED_BY_HAND: ReadonlySet<string> = new Set([
  'FindStrRegex',
  'TimeAdd',
  'TimeSubtract',
  'Max',
  'Min',
  'ToObject',
  'ToArray',
]);

const TYPES: Readonly<Record<string, string>> = {
  Boolean: 'boolean',
  String: 'string',
  'String, or Array': 'string',
  Integer: 'number',
  Double: 'number',
  Number: 'number',
  Time: 'FaunaTime',
  Date: 'FaunaDate',
  'Array of String': 'string[]',
  Ref: 'Ref',
  Set: 'SetRef',
};

/** The types of scalar builders and of builders for forms that only Burrow has, each with its summary. */
export function scalarTypes(): string {
  const rows = rowsIn(builderRows());
  return FAMILIES.flatMap((family) => rows.flatMap((row) => typeOf(row, family))).join('\n');
}

function typeOf(row: BuilderRow, { file, docs }: Family): readonly string[] {
  const key = row.keys[0]?.key ?? '';
  const doc = docs[key];
  if (!doc || TYPED_BY_HAND.has(row.name)) return [];
  const isScalar = SCALAR_FAMILIES.has(file);
  if (!isScalar && !isOwnForm(key)) return [];
  const type = TYPES[doc.result] ?? (isScalar ? undefined : 'unknown');
  if (type === undefined)
    throw new Error(`The result of ${row.name}, "${doc.result}", has no type: add it to TYPES.`);
  return [`  /** ${doc.summary} */`, `  ${row.name}: ${signatureOf(row)} => Returns<M, ${type}>;`];
}

function signatureOf(row: BuilderRow): string {
  const key = row.keys[0]?.key ?? '';
  const form: Form = FUNCTION_ROWS.find(({ name }) => name === key)?.form ?? {};
  const parameters = parametersOf(row, form[key]?.type ?? '').map(({ noun, mark }, at) => {
    if (mark === '*') return at === 0 ? `...${noun}: Some<A>` : `...${noun}: Arg[]`;
    return `${noun}${mark === '' ? '' : '?'}: ${noun === 'unit' ? 'Unit' : 'Arg'}`;
  });
  const types = row.keys[0]?.mark === '*' ? '<A extends readonly Arg[]>' : '';
  return `${types}(${parameters.join(', ')})`;
}
