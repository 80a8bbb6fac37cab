/** Walks everything that is stored and says what is wrong with it: rows that do not read, entries that are missing or too many. */
import {
  decodeDocumentKey,
  decodeHistoryEntry,
  decodeHistoryKey,
  documentKeyOf,
  hexOfKey,
  type Key,
} from '../codec/key.ts';
import { unpackVersion, type StoredVersion } from '../codec/row.ts';
import { eachElement } from '../query/gather.ts';
import type { EntrySpace, Row } from '../store/port.ts';
import { Suspended } from '../store/reader.ts';
import { Ref } from '../values/value.ts';
import type { CollectionId, Micros } from '../values/value.ts';
import type { EngineOptions } from './api.ts';
import type { AttemptInput } from './attempts.ts';
import type { EngineContext } from './context.ts';
import { isNative } from './definitions.ts';
import { systemContext } from './system-context.ts';
import type { Transactor } from './transact.ts';
import { expectedEntries, isOfBuiltIndex } from './verify-entries.ts';
import { historyProblems } from './verify-history.ts';

type Host = Pick<EngineOptions, 'clock' | 'random' | 'sha256' | 'pause'>;

const CHUNK_ROWS = 500;
/** Beyond every key: keys begin with the number of a database, whose first byte is small. */
const END = '\u00ff' as Key;

interface Checked {
  readonly problems: readonly string[];
  readonly rows: number;
  readonly next: Key | undefined;
}

/** @returns one sentence a problem; none when all is well */
export async function verifyStore(
  transactor: Transactor,
  host: Host,
  onProgress: (checked: number) => void = () => undefined,
): Promise<readonly string[]> {
  const problems: string[] = [];
  let checked = 0;
  for (const space of ['documents', 'history'] as const) {
    let from: Key | undefined = '' as Key;
    while (from !== undefined) {
      const lower: Key = from;
      const chunk: Checked = (
        await transactor.read((input) => ({
          value: checkChunk(input, host, space, lower),
          ts: 0,
          keep: false,
        }))
      ).value;
      problems.push(...chunk.problems);
      checked += chunk.rows;
      onProgress(checked);
      from = chunk.next;
      await host.pause();
    }
  }
  return problems;
}

function checkChunk(input: AttemptInput, host: Host, space: EntrySpace, lower: Key): Checked {
  const all = { space, by: 'key', upper: END, reverse: false, rows: true } as const;
  const rows = input.writer
    .range({ ...all, lower, limit: CHUNK_ROWS })
    .flatMap(({ row }) => row ?? []);
  const contexts = new Map<number, EngineContext>();
  const contextOf = (database: number): EngineContext => {
    const context = contexts.get(database) ?? systemContext(input, database, host);
    contexts.set(database, context);
    return context;
  };
  const last = rows.length === CHUNK_ROWS ? rows.at(-1) : undefined;
  if (space === 'documents') {
    const problems = rows.flatMap((row) => problemsOf(row, input, contextOf));
    return { problems, rows: rows.length, next: last && ((last.key + '\0') as Key) };
  }
  const problems = eachElement(byDocument(rows), ([key, past]) => {
    const isCut = past.at(-1) === last;
    return pastProblemsOf({ key, past, isCut }, input, contextOf);
  });
  // The next chunk begins with the last version again: only there is what follows it.
  return { problems: problems.flat(), rows: rows.length - (last ? 1 : 0), next: last?.key };
}

function byDocument(rows: readonly Row[]): ReadonlyMap<Key, readonly Row[]> {
  const pasts = new Map<Key, Row[]>();
  for (const row of rows) {
    const key = documentKeyOf(row.key);
    const past = pasts.get(key);
    if (past) past.push(row);
    else pasts.set(key, [row]);
  }
  return pasts;
}

type ContextOf = (database: number) => EngineContext;

function problemsOf(row: Row, { head }: AttemptInput, contextOf: ContextOf): readonly string[] {
  const name = `documents row ${hexOfKey(row.key)}`;
  return unlessUnreadable(name, () => {
    const { database, collection, id } = decodeDocumentKey(row.key);
    const version = unpackVersion(String(row.value));
    if (version.ts > head) return [laterThanHead(name, version.ts, head)];
    const context = contextOf(database);
    // What stood in a collection that is gone waits to be collected: indexes made since know nothing of it.
    if (isOfGoneCollection(context, collection)) return [];
    return entryProblems(name, context, new Ref(database, collection, id), row, version);
  });
}

interface DocumentPast {
  readonly key: Key;
  /** Oldest first. */
  readonly past: readonly Row[];
  /** More of it may be in the next chunk. */
  readonly isCut: boolean;
}

function pastProblemsOf(
  { key, past, isCut }: DocumentPast,
  { writer, head }: AttemptInput,
  contextOf: ContextOf,
): readonly string[] {
  const unreadable = past.flatMap((row) => {
    const name = `history row ${hexOfKey(row.key)}`;
    return unlessUnreadable(name, () => {
      const { ts } = unpackVersion(String(row.value));
      decodeHistoryKey(row.key);
      for (const entry of row.entries) decodeHistoryEntry(entry);
      return ts > head ? [laterThanHead(name, ts, head)] : [];
    });
  });
  if (unreadable.length > 0) return unreadable;
  return unlessUnreadable(`history of ${hexOfKey(key)}`, () => {
    const { database, collection, id } = decodeDocumentKey(key);
    const context = contextOf(database);
    if (isOfGoneCollection(context, collection)) return [];
    const current = isCut ? undefined : writer.row({ space: 'documents', key });
    return historyProblems(context, {
      ref: new Ref(database, collection, id),
      past,
      current,
      isCut,
    });
  });
}

function unlessUnreadable(name: string, look: () => readonly string[]): readonly string[] {
  try {
    return look();
  } catch (reason) {
    if (reason instanceof Suspended) throw reason;
    return [`${name} cannot be read: ${reason instanceof Error ? reason.message : String(reason)}`];
  }
}

const laterThanHead = (name: string, ts: Micros, head: Micros): string =>
  `${name} is of ${ts}, later than the last commit ${head}.`;

const isOfGoneCollection = (
  { schema, database }: EngineContext,
  collection: CollectionId,
): boolean => !isNative(collection) && !schema(database).collection(collection);

function entryProblems(
  name: string,
  context: EngineContext,
  ref: Ref,
  row: Row,
  version: StoredVersion,
): string[] {
  const isBuilt = isOfBuiltIndex(context);
  const expected = new Set(expectedEntries(context, ref, version));
  const actual = new Set(row.entries);
  const problems: string[] = [];
  for (const entry of expected) {
    if (!actual.has(entry) && isBuilt(entry))
      problems.push(`${name} lacks its index entry ${hexOfKey(entry)}.`);
  }
  for (const entry of actual) {
    if (!expected.has(entry) && isBuilt(entry))
      problems.push(`${name} has the index entry ${hexOfKey(entry)}, which nothing in it makes.`);
  }
  return problems;
}
