/** Compares what a device holds of a set with what it should hold now. */
import { decodeDocumentKey, keyAfter, type Key } from '../../../codec/key.ts';
import { unpackVersion } from '../../../codec/row.ts';
import type { AttemptInput, AttemptResult } from '../../../engine/attempts.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { eachElement } from '../../../query/gather.ts';
import type { Reader } from '../../../store/reader.ts';
import type { DatabaseId } from '../../../values/value.ts';
import { resolveSet } from '../sets/resolve-set.ts';
import { bucketOf, Fingerprint } from '../../protocol/fingerprint.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import type { Check, Checked } from '../../protocol/messages.ts';
import type { DatedDocument } from '../../protocol/identifiers.ts';
import { askerOf, ownerOf, type AskerHost, type Exchange } from '../rights/device-caller.ts';
import { requireDeviceIn, requireEpoch } from '../rows/device-rows.ts';
import { Rights } from '../rights/read-rights.ts';
import { NO_SCOPE, scopeIn, widened, type Scope } from '../rights/scope.ts';
import { lateIn } from './slice.ts';
import { WatchedReader } from '../rights/watched-reader.ts';
import { scan } from '../../../store/scan.ts';

/** Where the next slice begins. */
export interface CheckPlace {
  readonly part: number;
  readonly from: Key | undefined;
}

export const CHECK_START: CheckPlace = { part: 0, from: undefined };

export interface CheckSlice {
  /** Documents that should be on the device; some may come twice. */
  readonly held: readonly DatedDocument[];
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
  input: AttemptInput,
  host: AskerHost,
): AttemptResult<CheckSlice> {
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
  const held: DatedDocument[] = [];
  let at = part;
  let lower = from;
  for (;;) {
    const range = ranges[at];
    if (!range) return { held, next: undefined };
    const rest = { ...range, lower: lower ?? range.lower };
    const page = reader.range(scan('documents', rest, { limit: ROWS_AT_ONCE }));
    const may = eachElement(page, ({ key }) => rights.mayRead(key));
    page.forEach(({ key, row }, i) => {
      if (row && may[i] === true) held.push(heldOf(key, String(row.value)));
    });
    const last = page.at(-1);
    const isEnd = !last || page.length < ROWS_AT_ONCE;
    lower = isEnd ? undefined : keyAfter(last.entry);
    if (isEnd) at += 1;
    if (isLate()) return { held, next: { part: at, from: lower } };
  }
}

function heldOf(key: Key, stored: string): DatedDocument {
  const { collection, id } = decodeDocumentKey(key);
  return [collection, String(id), unpackVersion(stored).ts];
}

/** Whole buckets, as many as fit: a device that lacks more asks again. */
export function differingIn(held: readonly DatedDocument[], buckets: readonly string[]): Checked {
  const fingerprint = new Fingerprint();
  const byBucket = new Map<number, DatedDocument[]>();
  for (const each of withoutTwins(held)) {
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
    const documents = byBucket.get(bucket) ?? [];
    count += documents.length;
    if (differing.length > 0 && count > SYNC_LIMITS.checkedDocuments)
      return { differing, more: true };
    differing.push({ bucket, documents });
  }
  return { differing };
}

/** In several parts, or found again in a later slice: as it was last. */
const withoutTwins = (held: readonly DatedDocument[]): Iterable<DatedDocument> =>
  new Map(held.map((each) => [`${each[0]}/${each[1]}`, each])).values();
