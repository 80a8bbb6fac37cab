/** Checks all stored rows and reports problems: unreadable rows, missing entries, surplus entries. */
import {
  decodeDocumentKey,
  decodeHistoryEntry,
  decodeHistoryKey,
  documentKeyOf,
  hexOfKey,
  keyAfter,
  type Key,
  HIGHEST_KEY,
  LOWEST_KEY,
} from '../../codec/key.ts';
import { unpackVersion, type StoredVersion } from '../../codec/row.ts';
import { QueryFailure } from '../../errors.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Range, Row, Store } from '../../store/port.ts';
import { Suspended } from '../../store/reader.ts';
import { scan } from '../../store/scan.ts';
import { Ref } from '../../values/value.ts';
import type { CollectionId, Micros } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';
import type { BodyInput } from '../transactions/execution.ts';
import type { EngineContext } from '../context/context.ts';
import { systemContext } from '../session/internal-session.ts';
import { HEAD, isOfCommit, readHead, type Head } from '../transactions/head.ts';
import { Transactor } from '../transactions/transactor.ts';
import { expectedEntries, isOfBuiltIndex } from './verify-entries.ts';
import { historyProblems } from './verify-history.ts';
import { isNative } from '../../values/native-kinds.ts';
import { bytesOf, FIRST_ROWS, sizeAfter } from './step-size.ts';

type JobHost = Pick<EngineOptions, 'clock' | 'random' | 'sha256' | 'pause'>;

type VerifyOptions = JobHost & ConstructorParameters<typeof Transactor>[0];

const CHUNK_ROWS_MAX = 500;

interface Checked {
  readonly problems: readonly string[];
  readonly rows: number;
  readonly bytes: number;
  readonly ofLastCommit: number;
  readonly next: Key | undefined;
}

/**
 * Checks the whole store. Bypasses all caches, to find writes that this engine takes for committed but that the store does not contain.
 * @returns one sentence for each problem; empty if there is none
 */
export async function verifyStore(
  options: VerifyOptions,
  onProgress: (checked: number) => void = () => undefined,
): Promise<readonly string[]> {
  const { store } = options;
  const { lease: _, ...withoutLease } = options;
  const transactor = new Transactor(withoutLease);
  const before = await readStoredHead(store);
  const problems: string[] = [];
  let checked = 0;
  let ofLastCommit = 0;
  for (const space of ['documents', 'history'] as const) {
    let from: Key | undefined = LOWEST_KEY;
    for (let size = FIRST_ROWS; from !== undefined;) {
      const range = scan(space, { lower: from, upper: HIGHEST_KEY }, { limit: size });
      const { value: chunk } = await transactor.read((input) => ({
        value: checkChunk(input, { host: options, last: before }, range),
      }));
      problems.push(...chunk.problems);
      checked += chunk.rows;
      ofLastCommit += chunk.ofLastCommit;
      onProgress(checked);
      from = chunk.next;
      size = sizeAfter(chunk.bytes, size, CHUNK_ROWS_MAX);
      await options.pause();
    }
  }
  const { ts, last } = await readStoredHead(store);
  if (ts === before.ts && last && ofLastCommit < last.versions)
    problems.push(
      `The last commit, at ${ts}, stored ${last.versions} versions of documents, but only ${ofLastCommit} of them exist.`,
    );
  return problems;
}

async function readStoredHead(store: Store): Promise<Head> {
  const { rows } = await store.read((tx) => tx.fetch([HEAD], []), { spaces: [HEAD.space] });
  return readHead(rows[0]);
}

interface ChunkOptions {
  readonly host: JobHost;
  readonly last: Head;
}

function checkChunk(input: BodyInput, { host, last: head }: ChunkOptions, range: Range): Checked {
  const found = input.writer.range(range);
  const rows = found.flatMap(({ row }) => row ?? []);
  const bytes = bytesOf(found);
  const { space } = range;
  const contexts = new Map<number, EngineContext>();
  const contextOf = (database: number): EngineContext => {
    const context = contexts.get(database) ?? systemContext(input, database, host);
    contexts.set(database, context);
    return context;
  };
  const last = rows.length === range.limit ? rows.at(-1) : undefined;
  const next = last && (space === 'documents' ? keyAfter(last.key) : last.key);
  // In `history`, the next chunk starts with the last version again, because its successor is only in that chunk.
  const counted = last && space === 'history' ? rows.slice(0, -1) : rows;
  const { ts, last: { previous } = { previous: ts } } = head;
  const ofLastCommit = counted.filter((row) => isOfCommit(row, previous, ts)).length;
  if (space === 'documents') {
    const problems = rows.flatMap((row) => problemsOf(row, input, contextOf));
    return { problems, rows: counted.length, bytes, ofLastCommit, next };
  }
  const problems = eachElement(byDocument(rows), ([key, past]) => {
    const isCut = past.at(-1) === last;
    return pastProblemsOf({ key, past, isCut }, input, contextOf);
  });
  return { problems: problems.flat(), rows: counted.length, bytes, ofLastCommit, next };
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

function problemsOf(row: Row, { head }: BodyInput, contextOf: ContextOf): readonly string[] {
  const name = `documents row ${hexOfKey(row.key)}`;
  return unlessUnreadable(name, () => {
    const { database, collection, id } = decodeDocumentKey(row.key);
    const version = unpackVersion(String(row.value));
    if (version.ts > head) return [laterThanHead(name, version.ts, head)];
    const context = contextOf(database);
    // Documents of a deleted collection wait to be collected. Indexes created since do not contain them.
    if (isOfGoneCollection(context, collection)) return [];
    return entryProblems(name, context, new Ref(database, collection, id), row, version);
  });
}

interface DocumentPast {
  readonly key: Key;
  /** Rows in `history`, oldest first. */
  readonly past: readonly Row[];
  /** The next chunk may contain more of this document's history. */
  readonly isCut: boolean;
}

function pastProblemsOf(
  { key, past, isCut }: DocumentPast,
  { writer, head }: BodyInput,
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
    return [`${name} cannot be read: ${textOf(reason)}`];
  }
}

/** The message of an error. A stored lambda that is not a valid query fails with a `QueryFailure`. */
function textOf(reason: unknown): string {
  if (reason instanceof QueryFailure)
    return reason.faults.map(({ description }) => description).join(' ');
  return reason instanceof Error ? reason.message : String(reason);
}

const laterThanHead = (name: string, ts: Micros, head: Micros): string =>
  `${name} has the time ${ts}, which is after the last commit ${head}.`;

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
  const problems: string[] = [];
  const onUnfit = ({ message }: Error): void =>
    void problems.push(`${name} is not in an index: ${message}`);
  const expected = new Set(expectedEntries(context, ref, version, onUnfit));
  const actual = new Set(row.entries);
  for (const entry of expected) {
    if (!actual.has(entry) && isBuilt(entry))
      problems.push(`${name} is missing the index entry ${hexOfKey(entry)}.`);
  }
  for (const entry of actual) {
    if (!expected.has(entry) && isBuilt(entry))
      problems.push(
        `${name} has the index entry ${hexOfKey(entry)}, which does not follow from its fields.`,
      );
  }
  return problems;
}
