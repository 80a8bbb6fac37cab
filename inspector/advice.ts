/** Suggests an index that would help a query, from the query's text, the data that it read, and the existing indexes. */
import { Expr } from '../src/index.ts';
import type { QueryRecord } from '../src/host/diagnostics.ts';
import { hideSecretTexts } from './hide-secrets.ts';
import type { FieldPath, IndexField, IndexInfo, SchemaInfo } from './schema.ts';

export interface Advice {
  /** Why the query reads more than it needs. */
  readonly reason: string;
  /** Query that creates the index, to be run once. Undefined if there is such an index already, or the text implies none. */
  readonly create: string | undefined;
  /** What to write in the query instead. */
  readonly use: string | undefined;
  /** Set if the filter has other conditions and must stay: `use` then replaces only the collection that is filtered. */
  readonly keepsFilter?: true;
}

/** Number of documents or entries from which a query that returns little is worth advice. */
const MANY_READS = 500;
/** Number of documents from which an index that holds the fields is worth its space. */
const MANY_DOCUMENTS = 32;
const FIELDS_MAX = 8;
/** Time from which a query is called slow, ms. */
const SLOW_MS = 100;

export type AdvisedQuery = Pick<QueryRecord, 'query' | 'metrics' | 'reads'>;

type Form = Readonly<Record<string, unknown>>;

/** How many documents the query read, and how many entries its sets read. */
export function readsOf({ reads, metrics }: Pick<AdvisedQuery, 'reads' | 'metrics'>): {
  readonly documents: number;
  readonly entries: number;
} {
  if (!reads) return { documents: metrics.readOps, entries: 0 };
  const documents = reads.collections.reduce((sum, { count }) => sum + count, 0);
  return { documents, entries: reads.entries };
}

export const isSlow = (query: Pick<AdvisedQuery, 'reads' | 'metrics'>): boolean => {
  const { documents, entries } = readsOf(query);
  return query.metrics.queryTime >= SLOW_MS || Math.max(documents, entries) >= MANY_READS;
};

export function adviseOn(query: AdvisedQuery, schema: SchemaInfo): readonly Advice[] {
  const form = parsed(query.query);
  const found: Advice[] = [];
  walk(form, (each) => {
    if (has(each, 'filter', 'collection')) found.push(...onFilter(each, schema));
  });
  const { documents, entries } = readsOf(query);
  if (found.length === 0 && documents >= MANY_DOCUMENTS)
    walk(form, (each) => {
      if (has(each, 'map', 'collection')) found.push(...onMap(each, schema));
    });
  const reads = Math.max(documents, entries);
  const { bytesOut, readBytes } = query.metrics;
  if (found.length === 0 && reads >= MANY_READS && readBytes > bytesOut * 10)
    found.push({
      reason: `It read ${documents} documents and went through ${entries} entries to answer ${bytesOut} bytes. Let an index select what it needs: give it the field that is compared as a term, or the field that is ordered by as a value.`,
      create: undefined,
      use: undefined,
    });
  return unique(found);
}

function parsed(query: string | undefined): unknown {
  try {
    return query === undefined ? undefined : (JSON.parse(query) as unknown);
  } catch {
    return undefined;
  }
}

/** Removes duplicates: a query may contain the same filter twice. */
const unique = (all: readonly Advice[]): readonly Advice[] => [
  ...new Map(all.map((each) => [`${each.reason} ${each.create ?? each.use}`, each])).values(),
];

const isForm = (value: unknown): value is Form =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const has = (form: Form, ...names: readonly string[]): boolean =>
  names.every((name) => form[name] !== undefined);

function walk(value: unknown, visit: (form: Form) => void): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit);
  else if (isForm(value)) {
    visit(value);
    for (const each of Object.values(value)) walk(each, visit);
  }
}

// --- the source of the elements -----------------------------------------------------------------------

interface Source {
  readonly collection: string;
  /** The index, if the source is a `Match` of an index. */
  readonly index: IndexInfo | undefined;
  /** The terms of the `Match`. */
  readonly terms: readonly unknown[];
  /** Whether the elements are documents instead of refs. */
  readonly isRead: boolean;
}

function sourceOf(form: unknown, schema: SchemaInfo): Source | undefined {
  if (!isForm(form)) return undefined;
  if (form['paginate'] !== undefined) return sourceOf(form['paginate'], schema);
  if (form['reverse'] !== undefined) return sourceOf(form['reverse'], schema);
  if (has(form, 'map', 'collection')) {
    const source = sourceOf(form['collection'], schema);
    return source && isGetOf(lambdaOf(form['map'])) ? { ...source, isRead: true } : undefined;
  }
  if (form['documents'] !== undefined) {
    const collection = nameIn(form['documents'], 'collection', 'collections');
    return collection === undefined
      ? undefined
      : { collection, index: undefined, terms: [], isRead: false };
  }
  if (form['match'] === undefined) return undefined;
  const name = nameIn(form['match'], 'index', 'indexes');
  const index = schema.indexes.find((each) => each.name === name);
  const [collection, ...others] = index?.sources ?? [];
  if (!index || collection === undefined || collection === '*' || others.length > 0)
    return undefined;
  // A new index would need the same computed terms as this one.
  if (index.terms.some(isComputed)) return undefined;
  const given = form['terms'];
  const terms = given === undefined ? [] : Array.isArray(given) ? given : [given];
  return { collection, index, terms, isRead: false };
}

/** Matches `Collection("notes")` and the ref of the collection. */
function nameIn(form: unknown, builder: string, kind: string): string | undefined {
  if (typeof form === 'string') return form;
  if (!isForm(form)) return undefined;
  const built = form[builder];
  if (typeof built === 'string') return built;
  const ref = form['@ref'];
  if (!isForm(ref) || !isForm(ref['collection'])) return undefined;
  const of = ref['collection']['@ref'];
  return isForm(of) && of['id'] === kind && typeof ref['id'] === 'string' ? ref['id'] : undefined;
}

interface LambdaForm {
  /** Names of the parameters: one, or one for each value of an index entry. */
  readonly names: readonly string[];
  readonly body: unknown;
}

function lambdaOf(form: unknown): LambdaForm | undefined {
  if (!isForm(form) || !has(form, 'lambda', 'expr')) return undefined;
  const { lambda, expr: body } = form as { readonly lambda: unknown; readonly expr: unknown };
  const names = (Array.isArray(lambda) ? lambda : [lambda]).filter(
    (name): name is string => typeof name === 'string',
  );
  return { names, body };
}

const isComputed = ({ field, transform }: IndexField): boolean =>
  field === undefined || transform !== undefined;

/** Whether an index finds documents of only this collection, by the unchanged values of these fields. */
const isIndexBy = (
  { isActive, sources, terms: own }: IndexInfo,
  collection: string,
  terms: readonly FieldPath[],
): boolean =>
  isActive &&
  sources.length === 1 &&
  sources[0] === collection &&
  own.length === terms.length &&
  own.every((term, at) => !isComputed(term) && isSame(term.field ?? [], terms[at]));

const isVar = (form: unknown, name: string | undefined): boolean =>
  isForm(form) && name !== undefined && form['var'] === name;

const isGetOf = (lambda: LambdaForm | undefined): boolean =>
  isForm(lambda?.body) && isVar(lambda.body['get'], lambda.names[0]);

const mentions = (form: unknown, names: readonly string[]): boolean => {
  let found = false;
  walk(form, (each) => {
    if (names.some((name) => isVar(each, name))) found = true;
  });
  return found;
};

/** The field of the element that an expression reads. */
function fieldIn(form: unknown, lambda: LambdaForm, source: Source): FieldPath | undefined {
  if (!isForm(form)) return undefined;
  if (has(form, 'select', 'from')) {
    const isOfElement = source.isRead
      ? isVar(form['from'], lambda.names[0])
      : isForm(form['from']) &&
        lambda.names.some((name) => isVar((form['from'] as Form)['get'], name));
    const path = Array.isArray(form['select']) ? form['select'] : [form['select']];
    const isPath = path.every((step) => typeof step === 'string' || typeof step === 'number');
    return isOfElement && isPath ? path : undefined;
  }
  if (source.isRead || !source.index) return undefined;
  const at = lambda.names.findIndex((name) => isVar(form, name));
  // An index without values returns refs, which have no field.
  return source.index.values[at]?.field;
}

// --- filters -----------------------------------------------------------------------------------------

interface Condition {
  readonly path: FieldPath;
  readonly isEquality: boolean;
  /** The other operand of the comparison; undefined if it depends on the element. */
  readonly other: unknown;
}

const ORDERS = ['lt', 'lte', 'gt', 'gte'] as const;

/** The conditions that every element which passes the filter meets: the body, or each part of an `and`. */
function partsOf(body: unknown): readonly unknown[] {
  const parts = isForm(body) ? body['and'] : undefined;
  return Array.isArray(parts) ? parts.flatMap(partsOf) : [body];
}

function conditionsIn(parts: readonly unknown[], lambda: LambdaForm, source: Source) {
  const found: Condition[] = [];
  const compare = (operands: unknown, isEquality: boolean): void => {
    if (!Array.isArray(operands)) return;
    for (const operand of operands) {
      const path = fieldIn(operand, lambda, source);
      if (!path || path[0] === 'ref') continue;
      const other: unknown = operands.find((each) => each !== operand);
      // An index has no entry for a term that is null, and one entry per element for an array.
      if (isEquality && (other === null || Array.isArray(other))) continue;
      found.push({ path, isEquality, other: mentions(other, lambda.names) ? undefined : other });
    }
  };
  for (const form of parts.filter(isForm)) {
    if (form['equals'] !== undefined) compare(form['equals'], true);
    for (const order of ORDERS) if (form[order] !== undefined) compare(form[order], false);
    if (has(form, 'contains_value', 'in')) compare([form['in'], form['contains_value']], true);
  }
  return found;
}

function onFilter(form: Form, schema: SchemaInfo): readonly Advice[] {
  const lambda = lambdaOf(form['filter']);
  const source = lambda && sourceOf(form['collection'], schema);
  if (!source) return [];
  const parts = partsOf(lambda.body);
  const [first, ...rest] = conditionsIn(parts, lambda, source);
  if (!first) return [];
  const condition = [first, ...rest].find(({ isEquality }) => isEquality) ?? first;
  const advice = condition.isEquality
    ? onEquality(condition, source, schema)
    : onOrder(condition, source, schema);
  return [parts.length > 1 ? { ...advice, keepsFilter: true } : advice];
}

/** The fields that the terms of the index are. */
const termPaths = ({ index }: Source): readonly FieldPath[] =>
  (index?.terms ?? []).flatMap(({ field }) => (field ? [field] : []));

const whatIs = ({ collection, index }: Source): string =>
  index ? `each entry of the match of “${index.name}”` : `every document of “${collection}”`;

function onEquality(condition: Condition, source: Source, schema: SchemaInfo): Advice {
  const { path, other } = condition;
  const terms = [...termPaths(source), path];
  const known = schema.indexes.find((each) => isIndexBy(each, source.collection, terms));
  const name =
    known?.name ?? newName(`${source.collection}_by_${terms.map(last).join('_and_')}`, schema);
  return {
    reason: known
      ? `The filter looks at ${whatIs(source)}, but the index “${name}” finds those with this “${path.join('.')}” at once.`
      : `The filter looks at ${whatIs(source)} for those with one “${path.join('.')}”. An index with this field as a term finds them at once.`,
    create: known
      ? undefined
      : `CreateIndex({ name: ${JSON.stringify(name)}, source: Collection(${JSON.stringify(source.collection)}), terms: [${terms.map(fieldForm).join(', ')}] })`,
    use: matchForm(name, [...source.terms, other]),
  };
}

function onOrder({ path }: Condition, source: Source, schema: SchemaInfo): Advice {
  const terms = termPaths(source);
  const known = schema.indexes.find(
    (each) =>
      isIndexBy(each, source.collection, terms) && isSame(each.values[0]?.field ?? [], path),
  );
  const name = known?.name ?? newName(`${source.collection}_sorted_by_${last(path)}`, schema);
  return {
    reason: known
      ? `The filter looks at ${whatIs(source)}, but the index “${name}” is ordered by “${path.join('.')}”: take a range of it.`
      : `The filter looks at ${whatIs(source)} for a range of “${path.join('.')}”. An index with this field as its first value is ordered by it.`,
    create: known ? undefined : createSorted(name, source, terms, [path]),
    use: `Range(${matchForm(name, source.terms)}, from, to)`,
  };
}

// --- pages that read every document ------------------------------------------------------------------

function onMap(form: Form, schema: SchemaInfo): readonly Advice[] {
  const lambda = lambdaOf(form['map']);
  const source = lambda && sourceOf(form['collection'], schema);
  if (!source || source.isRead) return [];
  const paths = readFields(lambda, source);
  if (!paths) return [];
  const terms = termPaths(source);
  const name = newName(`${source.collection}_with_${paths.map(last).join('_')}`, schema);
  return [
    {
      reason: `It reads each document of a page for ${paths.map((path) => `“${path.join('.')}”`).join(', ')} alone. An index with these fields as values answers without reading documents.`,
      create: createSorted(name, source, terms, paths),
      use: `Paginate(${matchForm(name, source.terms)})`,
    },
  ];
}

/** The fields of the document that the body reads. Undefined if it reads the whole document, too many fields, or none. */
function readFields(lambda: LambdaForm, source: Source): readonly FieldPath[] | undefined {
  const paths = new Map<string, FieldPath>();
  let gets = 0;
  let selects = 0;
  walk(lambda.body, (form) => {
    if (lambda.names.some((name) => isVar(form['get'], name))) gets += 1;
    const path = has(form, 'select', 'from') ? fieldIn(form, lambda, source) : undefined;
    if (!path) return;
    selects += 1;
    paths.set(path.join('.'), path);
  });
  return gets > 0 && gets === selects && paths.size <= FIELDS_MAX ? [...paths.values()] : undefined;
}

// --- texts -------------------------------------------------------------------------------------------

const createSorted = (
  name: string,
  { collection }: Source,
  terms: readonly FieldPath[],
  values: readonly FieldPath[],
): string => {
  const fields = [...values, ['ref']].map(fieldForm).join(', ');
  const above = terms.length > 0 ? `terms: [${terms.map(fieldForm).join(', ')}], ` : '';
  return `CreateIndex({ name: ${JSON.stringify(name)}, source: Collection(${JSON.stringify(collection)}), ${above}values: [${fields}] })`;
};

function matchForm(name: string, terms: readonly unknown[]): string {
  const given = terms.map(printed).join(', ');
  return `Match(Index(${JSON.stringify(name)})${given && `, ${terms.length > 1 ? `[${given}]` : given}`})`;
}

const fieldForm = (path: FieldPath): string =>
  `{ field: [${path.map((step) => JSON.stringify(step)).join(', ')}] }`;

const last = (path: FieldPath): string => String(path.at(-1)).replaceAll(/\W/g, '_');

const isSame = (one: FieldPath, other: FieldPath | undefined): boolean =>
  one.length === other?.length && one.every((step, at) => step === other[at]);

function newName(wanted: string, { indexes }: SchemaInfo): string {
  let name = wanted;
  for (let at = 2; indexes.some((each) => each.name === name); at += 1) name = `${wanted}_${at}`;
  return name;
}

const printed = (value: unknown): string =>
  value === undefined ? '…' : hideSecretTexts(new Expr(value).toFQL());
