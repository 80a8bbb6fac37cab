/** The documents of the local database to be copied, each with the write that creates it at the hub. */
import {
  Expr,
  q,
  queryText,
  type Arg,
  type Database,
  type FaunaTime,
  type Ref,
  type Sync,
} from '../index.ts';
import { noOption, wrongOptions } from '../values/wrong-options.ts';
import type { AdoptOptions, Adopted, LocalDocument } from './options.ts';
import { AdoptRefused } from './refused.ts';
import { asStored, exactIn, keyOf, type Exact } from './as-stored.ts';

/** A document to be copied. */
export interface DocumentToAdopt {
  readonly document: LocalDocument;
  /** `keyOf` of the document's own ref. */
  readonly key: string;
  /** Ref of the document at the hub. */
  readonly ref: Ref;
  readonly write: Expr;
  /** Names of the files that the document refers to. */
  readonly files: readonly string[];
}

type Data = LocalDocument['data'];
type Mapping = NonNullable<AdoptOptions['map']>;

interface Stored extends LocalDocument {
  readonly ttl?: FaunaTime;
}

interface Read {
  readonly document: Stored;
  readonly exact: Exact;
}

interface Mapped extends Read {
  readonly ref: Ref;
  readonly data: Data;
}

/** Documents per page. The data of each document is in the page twice. */
const PAGE = 125;

/** @throws AdoptRefused */
export async function documentsToAdopt(
  local: Database,
  sync: Sync,
  options: AdoptOptions,
): Promise<readonly DocumentToAdopt[]> {
  const wrong = wrongArguments(local, sync, options);
  if (wrong !== undefined) throw invalidOption(wrong);
  const map: Mapping = options.map ?? (() => ({}));
  const names = await namesOf(local, options.collections);
  const read = await readAll(local, names, options);
  const refs = new Map<string, Ref>();
  const mapped: Mapped[] = [];
  for (const { document, exact } of read) {
    const becomes = map(document);
    if (becomes === undefined) continue;
    checkAnswer(becomes, document);
    const ref = becomes.is ?? becomes.ref ?? document.ref;
    if (keyOf(ref) !== keyOf(document.ref)) refs.set(keyOf(document.ref), ref);
    if (becomes.is === undefined)
      mapped.push({ document, exact, ref, data: becomes.data ?? document.data });
  }
  await requireCollections(sync, [...new Set(mapped.map(({ ref }) => ref.collection?.id ?? ''))]);
  return mapped.map(({ document, exact, ref, data }) => ({
    document,
    key: keyOf(document.ref),
    ref,
    write: writeOf(ref, asStored(data, refs, exact) as Data, document.ttl),
    files: [...new Set(queryText(data as Arg).match(/\bfile:[\da-f]{64}\b/g))],
  }));
}

const OPTIONS = [
  'collections',
  'map',
  'label',
  'onProgress',
  'signal',
] satisfies (keyof AdoptOptions)[];
const CALLED = ['map', 'label', 'onProgress'] as const;
const ANSWERS: readonly string[] = ['is', 'ref', 'data'];

/** Describes what is wrong, in a sentence. Undefined if the arguments are right. */
function wrongArguments(
  local: Partial<Database> | undefined,
  sync: Partial<Sync> | undefined,
  options: AdoptOptions,
): string | undefined {
  if (!local?.verify || !sync?.writes)
    return 'Pass an open database, and the sync of a copy: what `sync()` of a database gave.';
  // The copy would be submitted to itself, and the app might then delete it as the local database that is no longer needed.
  if (local.files === sync.files)
    return 'Pass the database that was used without a hub, and the sync of another one: this database is the copy itself.';
  return (
    wrongOptions(options, OPTIONS) ??
    (options.collections && !Array.isArray(options.collections)
      ? '`collections` must be an array of names.'
      : notCallable(options))
  );
}

function notCallable(options: AdoptOptions): string | undefined {
  const wrong = CALLED.find((name) => typeof (options[name] ?? notCallable) !== 'function');
  return wrong && `\`${wrong}\` must be a function.`;
}

/** @throws AdoptRefused for an unclear answer, by which a document could be copied or left out against the app's intention */
function checkAnswer(becomes: NonNullable<Adopted> | null, document: LocalDocument): void {
  const isPromise = becomes instanceof Promise;
  if (typeof becomes !== 'object' || becomes === null || isPromise || becomes instanceof Expr)
    throw invalidOption(
      `\`map\` must answer undefined or an object, but answered ${isPromise ? 'a promise' : String(becomes)}.`,
    );
  // If `data` is misspelt, the app's changes would be ignored, and data that it meant to leave out would be copied. Other members of the
  // document are allowed, because an app may return the document with changes.
  const extra = Object.keys(becomes).find((name) => !ANSWERS.includes(name) && !(name in document));
  if (extra !== undefined)
    throw invalidOption(`What \`map\` answered: ${noOption(extra, ANSWERS)}`);
  const { is, ref } = becomes as { readonly is?: Expr; readonly ref?: Expr };
  for (const given of [is, ref])
    if (given !== undefined && !(Object(given) as Partial<Ref>).collection)
      throw invalidOption(
        `\`map\` must answer the ref of a document, as a query gives it, but answered ${String(given)}.`,
      );
}

const invalidOption = (sentence: string): AdoptRefused =>
  new AdoptRefused('invalid_option', sentence);

async function namesOf(
  local: Database,
  wanted: readonly string[] | undefined,
): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const page of local.client().paginate(q.Collections()))
    names.push(...(page as readonly Ref[]).map(({ id }) => id));
  const unknown = wanted?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw invalidOption(`\`collections\`: the database has no collection '${unknown}'.`);
  return wanted ?? names;
}

async function readAll(
  local: Database,
  names: readonly string[],
  { onProgress, signal }: Pick<AdoptOptions, 'onProgress' | 'signal'>,
): Promise<readonly Read[]> {
  const read: Read[] = [];
  for (const name of names) {
    const pages = local
      .client()
      .paginate(q.Documents(q.Collection(name)), { size: PAGE }, signal && { signal })
      .map((ref) => ({
        document: q.Get(ref),
        text: q.Format('%^', q.Select('data', q.Get(ref), {})),
      }));
    for await (const page of pages) {
      for (const { document, text } of page)
        read.push({ document: { ...document, data: document.data ?? {} }, exact: exactIn(text) });
      onProgress?.({ phase: 'reading', done: read.length, total: undefined });
    }
  }
  return read;
}

/** Nothing can be written into a collection that the copy does not have. @throws AdoptRefused */
async function requireCollections(sync: Sync, names: readonly string[]): Promise<void> {
  const found = await sync.client.query(names.map((name) => q.Exists(q.Collection(name))));
  const missing = names.filter((_, at) => !found[at]);
  if (missing.length === 0) return;
  throw new AdoptRefused(
    'missing_collection',
    `The copy does not have ${missing.map((name) => `'${name}'`).join(', ')}: create the collection at the hub and keep a set of it (\`sync.setSets()\`), or leave its documents out (\`collections\`, \`map\`).`,
  );
}

/** Creates the document, unless it exists with the same data: an earlier call may have created it. */
const writeOf = (ref: Ref, data: Data, ttl: FaunaTime | undefined): Expr =>
  q.If(
    q.Exists(ref),
    q.If(
      q.Equals(q.Select('data', q.Get(ref), {}), data),
      null,
      q.Abort(`The hub already has ${keyOf(ref)}, with other data.`),
    ),
    q.Create(ref, { data, ...(ttl && { ttl }) }),
  );
