/** Compares what a device holds of a set with what it should hold now. */
import { decodeDocumentKey, type Key } from '../../codec/key.ts';
import { unpackVersion } from '../../codec/row.ts';
import type { BodyInput, BodyResult } from '../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Reader } from '../../store/reader.ts';
import type { DatabaseId, Micros } from '../../values/value.ts';
import { resolveSet } from '../definitions.ts';
import { bucketOf, Fingerprint } from '../fingerprint.ts';
import type { PartRange } from '../parts.ts';
import type { Check, Checked, DocumentName } from '../protocol.ts';
import { keyBehind } from './asked-sets.ts';
import { askerOf, ownerOf, type AskerHost, type Exchange } from './asker.ts';
import { requireDeviceIn, requireEpoch } from './device-rows.ts';
import { Rights } from './rights.ts';
import { NO_SCOPE, scopeIn, widened, type Scope } from './scope.ts';
import { lateIn } from './slice.ts';
import { WatchedReader } from './watched-reader.ts';

type Held = readonly [...DocumentName, Micros];

/** Where the next slice begins. */
export interface CheckPlace {
  readonly part: number;
  readonly from: Key | undefined;
}

export const CHECK_START: CheckPlace = { part: 0, from: undefined };

export interface CheckSlice {
  /** Documents that should be on the device; some may come twice. */
  readonly held: readonly Held[];
  /** Undefined: that was all. */
  readonly next: CheckPlace | undefined;
  readonly database: DatabaseId;
  readonly before: Scope | undefined;
  /** With what rights were found to rest on. */
  readonly scope: Scope;
}

/**
 * Slices are of different times: what changes between them is fetched in vain, and nothing worse.
 * @throws Suspended, SyncRefused
 */
export function attemptCheck(
  message: Check,
  place: CheckPlace,
  exchange: Exchange,
  input: BodyInput,
  host: AskerHost,
): BodyResult<CheckSlice> {
  const isLate = lateIn(host.clock);
  const { writer: reader } = input;
  requireEpoch(reader, message.epoch);
  const snapshot = Math.max(exchange.started, input.head);
  const watched = new WatchedReader(reader, snapshot);
  const asker = askerOf(exchange, input, watched, host);
  const { database } = asker.caller;
  requireDeviceIn(reader, database, message.device, ownerOf(asker.caller));
  const rights = new Rights(asker, watched);
  const { context, session } = asker;
  const mayReadOf = (collection: number) => rights.mayReadOf(collection);
  const { parts } = resolveSet({ context, session, mayReadOf }, message.set.query);
  const ranges = parts.map(({ range }) => range);
  const slice = sliceOf(reader, rights, ranges, place, isLate);
  const before = scopeIn(reader, database, message.device);
  const scope = widened(before ?? NO_SCOPE, watched, snapshot);
  return { value: { ...slice, database, before, scope }, ts: input.head, keep: false };
}

const ROWS_AT_ONCE = 512;

function sliceOf(
  reader: Reader,
  rights: Rights,
  ranges: readonly PartRange[],
  { part, from }: CheckPlace,
  isLate: () => boolean,
): Pick<CheckSlice, 'held' | 'next'> {
  const held: Held[] = [];
  let at = part;
  let lower = from;
  for (;;) {
    const range = ranges[at];
    if (!range) return { held, next: undefined };
    const bounds = { ...range, lower: lower ?? range.lower, limit: ROWS_AT_ONCE };
    const page = reader.range({ ...bounds, space: 'documents', reverse: false, rows: true });
    const may = eachElement(page, ({ key }) => rights.mayRead(key));
    page.forEach(({ key, row }, i) => {
      if (row && may[i] === true) held.push(heldOf(key, String(row.value)));
    });
    const last = page.at(-1);
    const isEnd = !last || page.length < ROWS_AT_ONCE;
    lower = isEnd ? undefined : keyBehind(last.entry);
    if (isEnd) at += 1;
    if (isLate()) return { held, next: { part: at, from: lower } };
  }
}

function heldOf(key: Key, stored: string): Held {
  const { collection, id } = decodeDocumentKey(key);
  return [collection, String(id), unpackVersion(stored).ts];
}

/** Whole buckets, as many as fit: a device that lacks more asks again. */
export function differingIn(held: readonly Held[], buckets: readonly string[]): Checked {
  const fingerprint = new Fingerprint();
  const byBucket = new Map<number, Held[]>();
  for (const each of withoutTwins(held)) {
    const [collection, id, ts] = each;
    fingerprint.add(collection, id, ts);
    const bucket = bucketOf(collection, id);
    const others = byBucket.get(bucket);
    if (others) others.push(each);
    else byBucket.set(bucket, [each]);
  }
  const differing: Checked['differing'][number][] = [];
  let count = 0;
  for (const [bucket, sum] of fingerprint.buckets().entries()) {
    if (sum === buckets[bucket]) continue;
    const documents = byBucket.get(bucket) ?? [];
    count += documents.length;
    if (differing.length > 0 && count > SYNC_LIMITS.checkedDocuments)
      return { differing, more: true };
    differing.push({ bucket, documents });
  }
  return { differing };
}

/** In several parts, or found again in a later slice: as it was last. */
const withoutTwins = (held: readonly Held[]): Iterable<Held> =>
  new Map(held.map((each) => [`${each[0]}/${each[1]}`, each])).values();
