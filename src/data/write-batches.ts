/** Queries that compare a batch with the existing documents, or write it. */
import { DATA_LIMITS } from '../limits.ts';
import type { Ask } from './ask.ts';
import { DataError } from './data-error.ts';
import {
  refTextOf,
  type DocumentItem,
  type GoneItem,
  type Placed,
  type VersionItem,
} from './items.ts';
import { RefusedQuery, refusedLine } from './refusals.ts';
import { itemsOf } from './wire.ts';

export type OnClash = 'refuse' | 'skip' | 'replace';

/** What happened to a document. */
export const OUTCOMES = ['same', 'imported', 'kept', 'replaced', 'expired', 'clash'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const answer = (outcome: Outcome): string => String(OUTCOMES.indexOf(outcome));

const REF = '{"var":"ref"}';
const PARAMS = '{"var":"params"}';
const EXISTS = `{"exists":${REF}}`;

const field = (name: string, from: string): string =>
  `{"select":[${JSON.stringify(name)}],"from":${from},"default":null}`;

const isSame = (name: string): string =>
  `{"equals":[${field(name, '{"var":"found"}')},${field(name, PARAMS)}]}`;
const isSameIfGiven = (name: string): string =>
  `{"or":[{"equals":[${field(name, PARAMS)},null]},${isSame(name)}]}`;

/**
 * Whether the document exists with the same contents. A `ttl` is only compared if the source has one, because `ttl_days` may have added one
 * here. The same goes for permissions: a row has none.
 */
const SAME = `{"let":[{"found":{"get":${REF}}}],"in":{"and":[${isSame('data')},${isSameIfGiven('ttl')},${isSameIfGiven('permissions')}]}}`;

const either = (condition: string, then: string, otherwise: string): string =>
  `{"if":${condition},"then":${then},"else":${otherwise}}`;

const afterwards = (write: string, outcome: string): string => `{"do":[${write},${outcome}]}`;

const CREATE = afterwards(`{"create":${REF},"params":${PARAMS}}`, answer('imported'));
/** Whether the time has passed. If not, the source's clock was ahead, and nothing can be inserted at a future time. */
const hasBeen = '{"lte":[{"var":"ts"},{"to_micros":{"now":null}}]}';

/** Inserts a document at its time. If it was deleted here after that time, it still does not exist after the insert, and is created. */
const INSERT = either(
  hasBeen,
  `{"do":[{"insert":${REF},"ts":{"var":"ts"},"action":"create","params":${PARAMS}},${either(EXISTS, answer('imported'), CREATE)}]}`,
  CREATE,
);
const REPLACE = afterwards(`{"replace":${REF},"params":${PARAMS}}`, answer('replaced'));

const hasExpired = `{"lt":[{"select":["ttl"],"from":${PARAMS},"default":{"@ts":"9999-12-31T00:00:00Z"}},{"now":null}]}`;

const ON_CLASH = {
  refuse: answer('clash'),
  skip: answer('kept'),
  replace: REPLACE,
} as const satisfies Record<OnClash, string>;

const rowText = (item: DocumentItem): string =>
  `[${refTextOf(item)},${item.ts ?? 'null'},${item.params}]`;

const mapText = (body: string, rows: readonly string[]): string =>
  `{"map":{"lambda":["ref","ts","params"],"expr":${body}},"collection":[${rows.join(',')}]}`;

async function outcomesOf(ask: Ask, query: string): Promise<Outcome[]> {
  return itemsOf(await ask(query)).map((each) => OUTCOMES[Number(each)] ?? 'clash');
}

/** What would happen to the documents of a batch: `same`, `imported` or `clash`. */
export function compareBatch(ask: Ask, batch: readonly DocumentItem[]): Promise<Outcome[]> {
  const body = either(EXISTS, either(SAME, answer('same'), answer('clash')), answer('imported'));
  return compare(ask, body, batch);
}

/**
 * Compares a batch, in halves if the query is refused: a document may refer to schema objects that do not exist yet. Such a document cannot
 * be the same as an existing one.
 */
async function compare(ask: Ask, body: string, batch: readonly DocumentItem[]): Promise<Outcome[]> {
  try {
    return await outcomesOf(ask, mapText(body, batch.map(rowText)));
  } catch (reason) {
    if (!(reason instanceof RefusedQuery)) throw reason;
    const [only] = batch;
    if (only && batch.length === 1)
      return outcomesOf(
        ask,
        `[{"if":{"exists":${refTextOf(only)}},"then":${answer('clash')},"else":${answer('imported')}}]`,
      );
    const half = Math.ceil(batch.length / 2);
    const parts = [batch.slice(0, half), batch.slice(half)];
    const outcomes: Outcome[] = [];
    for (const part of parts) outcomes.push(...(await compare(ask, body, part)));
    return outcomes;
  }
}

/** Those of the deleted documents that exist here. */
export async function findLiving(ask: Ask, gone: readonly GoneItem[]): Promise<GoneItem[]> {
  const refs = gone.map(refTextOf);
  const query = `{"map":{"lambda":"ref","expr":${EXISTS}},"collection":[${refs.join(',')}]}`;
  const found = itemsOf(await ask(query));
  return gone.filter((_, at) => found[at] === true);
}

export interface WriteMode {
  readonly onClash: OnClash;
  /** Whether documents get the times in the source. Unique indexes are not checked then. */
  readonly keepsTimes: boolean;
}

/** Writes a batch in one transaction. @throws DataError `refused`, `clash`, with the line */
export async function writeBatch(
  ask: Ask,
  batch: readonly DocumentItem[],
  mode: WriteMode,
): Promise<Outcome[]> {
  const withTimes = mode.keepsTimes && batch.every(({ ts }) => ts !== undefined);
  const make = withTimes ? INSERT : CREATE;
  const known = batch.some(({ hasTtl }) => hasTtl)
    ? either(hasExpired, answer('expired'), make)
    : make;
  const body = either(EXISTS, either(SAME, answer('same'), ON_CLASH[mode.onClash]), known);
  const outcomes = await eachIfRefused(batch, ['collection', '0', '2'], (part) =>
    outcomesOf(ask, mapText(body, part.map(rowText))),
  );
  const clash = batch[outcomes.indexOf('clash')];
  if (clash) {
    const sentence = `${describe(clash)} already exists, with other contents, or is in the source twice.`;
    throw new DataError('clash', sentence, { line: clash.line });
  }
  return outcomes;
}

const INSERT_VERSION = `{"do":[{"insert":${REF},"ts":{"var":"ts"},"action":{"var":"action"},"params":${PARAMS}},1]}`;

const versionText = (item: VersionItem): string =>
  `[${refTextOf(item)},${item.ts},"${item.isEnd ? 'delete' : 'create'}",${item.params}]`;

/** Writes versions in their order. @throws DataError `refused`, with the line */
export async function writeVersions(ask: Ask, batch: readonly VersionItem[]): Promise<void> {
  await eachIfRefused(batch, ['collection', '0', '3'], async (part) => {
    const rows = part.map(versionText).join(',');
    await ask(
      `{"foreach":{"lambda":["ref","ts","action","params"],"expr":${INSERT_VERSION}},"collection":[${rows}]}`,
    );
    return [];
  });
}

export const describe = ({ collection, id }: Placed): string => `Document ${id} of '${collection}'`;

/**
 * Writes a batch. If the database refuses it, writes each item alone, to find the one that is refused. @param paramsAt position of the
 * parameters in a query with one item
 */
async function eachIfRefused<T extends DocumentItem | VersionItem>(
  batch: readonly T[],
  paramsAt: readonly string[],
  write: (part: readonly T[]) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  try {
    return await write(batch);
  } catch (reason) {
    if (!(reason instanceof RefusedQuery)) throw reason;
    const all: Outcome[] = [];
    for (const item of batch) {
      try {
        all.push(...(await write([item])));
      } catch (alone) {
        if (!(alone instanceof RefusedQuery)) throw alone;
        throw refusedLine(item, alone, paramsAt);
      }
    }
    return all;
  }
}

/** Items of one type and collection, up to as many as one query writes. */
export class Batch<T extends DocumentItem | VersionItem | GoneItem> {
  private items: T[] = [];
  private chars = 0;

  /**
   * Whether the batch must be taken before the item can be added. Items of one document stay together as long as one query can hold them:
   * concurrent readers, and an import that continues after a kill, then see either all of them or none.
   */
  isFullFor(item: T): boolean {
    const last = this.items.at(-1);
    if (!last) return false;
    const chars = this.chars + charsOf(item);
    if (last.collection !== item.collection || chars > DATA_LIMITS.lineChars) return true;
    const isLong =
      this.items.length >= DATA_LIMITS.batchDocuments || chars > DATA_LIMITS.batchChars;
    return isLong && last.id !== item.id;
  }

  add(item: T): void {
    this.items.push(item);
    this.chars += charsOf(item);
  }

  take(): readonly T[] {
    const taken = this.items;
    this.items = [];
    this.chars = 0;
    return taken;
  }
}

/** Approximate length of an item with its ref. */
const charsOf = (item: DocumentItem | VersionItem | GoneItem): number =>
  'params' in item ? item.params.length + item.collection.length + 120 : 0;
