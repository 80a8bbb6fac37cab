/** Compares the documents that a device has of a set with those that it should have now. */
import { decodeDocumentKey, keyAfter, type Key } from '../../../codec/key.ts';
import { unpackVersion } from '../../../codec/row.ts';
import type { BodyInput, BodyResult } from '../../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import { scan } from '../../../store/scan.ts';
import type { DatabaseId } from '../../../values/value.ts';
import { bucketOf, Fingerprint } from '../../protocol/fingerprint.ts';
import type { DatedDocument } from '../../protocol/identifiers.ts';
import type { Check, Checked } from '../../protocol/messages.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import type { CallerHost, DeviceRequest } from '../rights/device-caller.ts';
import { rightsContext, type RightsContext } from '../rights/rights-context.ts';
import type { Scope } from '../rights/scope.ts';
import { resolveSet } from '../sets/resolve-set.ts';
import { timeSlice } from './time-slice.ts';

/** Where the next slice of a check begins. */
export interface CheckPosition {
  readonly part: number;
  readonly from: Key | undefined;
}

export const CHECK_START: CheckPosition = { part: 0, from: undefined };

export interface CheckSlice {
  /** Documents that should be on the device. The same document may be in several slices. */
  readonly documents: readonly DatedDocument[];
  /** Undefined: this was the last slice. */
  readonly next: CheckPosition | undefined;
  readonly database: DatabaseId;
  readonly before: Scope | undefined;
  readonly scope: Scope;
}

/**
 * Reads one slice of the set. Slices may have different snapshots: documents that change in between are at worst pulled once more than
 * needed.
 * @throws Suspended, SyncRefused
 */
export function checkSlice(
  message: Check,
  position: CheckPosition,
  request: DeviceRequest,
  input: BodyInput,
  host: CallerHost,
): BodyResult<CheckSlice> {
  const isOverdue = timeSlice(host.clock, SYNC_LIMITS.checkMicros);
  const context = rightsContext(message, request, input, host);
  const { parts } = resolveSet(context, message.set.query);
  const ranges = parts.map(({ range }) => range);
  const slice = documentsFrom(context, ranges, position, isOverdue);
  const { database, scope: before } = context;
  const value = { ...slice, database, before, scope: context.extendedScope() };
  return { value };
}

/** Minimum number of rows per slice: rights on each may be decided by a predicate. */
const ROWS_AT_ONCE = 64;
/** Number of documents compared between two pauses. */
const COMPARED_AT_ONCE = 512;

function documentsFrom(
  { reader, rights }: RightsContext,
  ranges: readonly PartRange[],
  { part, from }: CheckPosition,
  isOverdue: () => boolean,
): Pick<CheckSlice, 'documents' | 'next'> {
  const documents: DatedDocument[] = [];
  let at = part;
  let lower = from;
  for (;;) {
    const range = ranges[at];
    if (!range) return { documents, next: undefined };
    const rest = { ...range, lower: lower ?? range.lower };
    const page = reader.range(scan('documents', rest, { limit: ROWS_AT_ONCE }));
    const may = eachElement(page, ({ key }) => rights.mayRead(key));
    page.forEach(({ key, row }, i) => {
      if (row && may[i] === true) documents.push(datedDocument(key, String(row.value)));
    });
    const last = page.at(-1);
    const isEnd = !last || page.length < ROWS_AT_ONCE;
    lower = isEnd ? undefined : keyAfter(last.entry);
    if (isEnd) at += 1;
    if (isOverdue()) return { documents, next: { part: at, from: lower } };
  }
}

function datedDocument(key: Key, stored: string): DatedDocument {
  const { collection, id } = decodeDocumentKey(key);
  return [collection, String(id), unpackVersion(stored).ts];
}

/** Whole buckets, as many as fit. A device with more differences checks again. */
export async function differencesFrom(
  documents: readonly DatedDocument[],
  buckets: readonly string[],
  pause?: () => Promise<void>,
): Promise<Checked> {
  const fingerprint = new Fingerprint();
  const byBucket = new Map<number, DatedDocument[]>();
  let compared = 0;
  for (const each of latestOfEach(documents)) {
    if ((compared += 1) % COMPARED_AT_ONCE === 0) await pause?.();
    fingerprint.add(each);
    const bucket = bucketOf(each);
    const others = byBucket.get(bucket);
    if (others) others.push(each);
    else byBucket.set(bucket, [each]);
  }
  const differing: Checked['differing'][number][] = [];
  let count = 0;
  for (const [bucket, sum] of fingerprint.buckets().entries()) {
    if (sum === buckets[bucket]) continue;
    const present = byBucket.get(bucket) ?? [];
    count += present.length;
    if (differing.length > 0 && count > SYNC_LIMITS.checkedDocuments)
      return { differing, more: true };
    differing.push({ bucket, documents: present });
  }
  return { differing };
}

/** A document may be in several parts of a set, or in several slices. */
const latestOfEach = (documents: readonly DatedDocument[]): Iterable<DatedDocument> =>
  new Map(documents.map((each) => [`${each[0]}/${each[1]}`, each])).values();
