/** Walks everything that is stored and says what is wrong with it: rows that do not read, entries that are missing or too many. */
import {
  decodeDocumentKey,
  decodeHistoryKey,
  hexOfKey,
  indexPrefix,
  type Key,
} from '../codec/key.ts';
import { unpackVersion, type StoredVersion } from '../codec/row.ts';
import type { EntrySpace, Range, Row } from '../store/port.ts';
import { Suspended } from '../store/reader.ts';
import { Ref } from '../values/value.ts';
import type { EngineOptions } from './api.ts';
import type { EngineContext } from './context.ts';
import { ROOT_DATABASE } from './databases.ts';
import { isNative } from './definitions.ts';
import { fieldsOf } from './documents.ts';
import { NATIVE_INDEX } from './native-indexes.ts';
import { systemContext } from './system-context.ts';
import type { AttemptInput } from './attempts.ts';
import type { Transactor } from './transact.ts';
import { allEntries, userEntries } from './version-rows.ts';

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
  const range: Range = {
    space,
    by: 'key',
    lower,
    upper: END,
    reverse: false,
    limit: CHUNK_ROWS,
    rows: true,
  };
  const rows = input.writer.range(range).flatMap(({ row }) => row ?? []);
  const contexts = new Map<number, EngineContext>();
  const contextOf = (database: number): EngineContext => {
    const context = contexts.get(database) ?? systemContext(input, database, host);
    contexts.set(database, context);
    return context;
  };
  const problems = rows.flatMap((row) => problemsOf(space, row, input, contextOf));
  const last = rows.at(-1);
  const next = last && rows.length === CHUNK_ROWS ? ((last.key + '\0') as Key) : undefined;
  return { problems, rows: rows.length, next };
}

function problemsOf(
  space: EntrySpace,
  row: Row,
  { head }: AttemptInput,
  contextOf: (database: number) => EngineContext,
): readonly string[] {
  const name = `${space} row ${hexOfKey(row.key)}`;
  try {
    const { database, collection, id } =
      space === 'documents' ? decodeDocumentKey(row.key) : decodeHistoryKey(row.key);
    const version = unpackVersion(String(row.value));
    if (version.ts > head)
      return [`${name} is of ${version.ts}, later than the last commit ${head}.`];
    const ref = new Ref(database, collection, id);
    const context = contextOf(database);
    if (space === 'history') {
      if (version.action !== 'delete') fieldsOf(context, ref, version);
      return [];
    }
    // What stood in a collection that is gone waits to be collected: indexes made since know nothing of it.
    const isGone = !isNative(collection) && !context.schema(database).collection(collection);
    return isGone ? [] : entryProblems(name, context, ref, row, version);
  } catch (reason) {
    if (reason instanceof Suspended) throw reason;
    return [`${name} cannot be read: ${reason instanceof Error ? reason.message : String(reason)}`];
  }
}

/** Entries of an index that is still being built are on their way: they are not asked for. */
function entryProblems(
  name: string,
  context: EngineContext,
  ref: Ref,
  row: Row,
  version: StoredVersion,
): string[] {
  const fields = fieldsOf(context, ref, version);
  const indexed = userEntries(context, ref, fields, version);
  const building = indexed
    .filter(({ index }) => !index.active)
    .map(({ index }) => indexPrefix(ref.database, index.id));
  const isBuilding = (entry: Key) => building.some((prefix) => entry.startsWith(prefix));
  const expected = new Set(allEntries(ref, fields, version.ttl, indexed));
  const actual = new Set(row.entries);
  const problems: string[] = [];
  for (const entry of expected) {
    if (!actual.has(entry) && !isBuilding(entry))
      problems.push(`${name} lacks its index entry ${hexOfKey(entry)}.`);
  }
  for (const entry of actual) {
    if (!expected.has(entry) && !isOfGoneIndex(context, entry))
      problems.push(`${name} has the index entry ${hexOfKey(entry)}, which nothing in it makes.`);
  }
  return problems;
}

/** An index that was deleted leaves its entries on rows until they are collected: nobody can reach them. */
function isOfGoneIndex(context: EngineContext, entry: Key): boolean {
  const isNativeIndex = Object.values(NATIVE_INDEX).some(
    (index) =>
      entry.startsWith(indexPrefix(ROOT_DATABASE, index)) ||
      entry.startsWith(indexPrefix(context.database, index)),
  );
  if (isNativeIndex) return false;
  const alive = context.schema(context.database).all('indexes');
  return !alive.some((index) => entry.startsWith(indexPrefix(context.database, index.id)));
}
