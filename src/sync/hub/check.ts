/** Compares what a device holds of a set with what it should hold now. */
import { decodeDocumentKey, type Key } from '../../codec/key.ts';
import { unpackVersion } from '../../codec/row.ts';
import type { AttemptInput, AttemptResult } from '../../engine/attempts.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { eachElement } from '../../query/gather.ts';
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
import { WatchedReader } from './watched-reader.ts';

export interface CheckOutcome {
  readonly checked: Checked;
  readonly database: DatabaseId;
  readonly before: Scope | undefined;
  readonly scope: Scope;
}

type Held = readonly [...DocumentName, Micros];

/** @throws Suspended, SyncRefused */
export function attemptCheck(
  message: Check,
  exchange: Exchange,
  input: AttemptInput,
  host: AskerHost,
): AttemptResult<CheckOutcome> {
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
  const held = documentsOf(
    reader,
    rights,
    parts.map(({ range }) => range),
  );
  const differing = differingIn(held, message.buckets);
  const before = scopeIn(reader, database, message.device);
  const known = before ?? NO_SCOPE;
  const due = differing.length > 0 ? known.due : known.due.filter((id) => id !== message.set.id);
  const scope = { ...known, ...widened(known, watched, snapshot), due };
  return {
    value: { checked: { differing }, database, before, scope },
    ts: input.head,
    keep: false,
  };
}

const ROWS_FIRST = 512;
const ROWS_MAX = 32_768;

/** All of the parts that may be read, each once. */
function documentsOf(
  reader: Reader,
  rights: Rights,
  ranges: readonly PartRange[],
): readonly Held[] {
  const found = new Map<Key, Held>();
  for (const range of ranges) {
    let { lower } = range;
    for (let limit = ROWS_FIRST; ; limit = Math.min(limit * 8, ROWS_MAX)) {
      const bounds = { ...range, lower, limit };
      const page = reader.range({ ...bounds, space: 'documents', reverse: false, rows: true });
      const may = eachElement(page, ({ key }) => found.has(key) || rights.mayRead(key));
      page.forEach(({ key, row }, i) => {
        if (!row || may[i] !== true || found.has(key)) return;
        const { collection, id } = decodeDocumentKey(key);
        found.set(key, [collection, String(id), unpackVersion(String(row.value)).ts]);
      });
      const last = page.at(-1);
      if (!last || page.length < limit) break;
      lower = keyBehind(last.entry);
    }
  }
  return [...found.values()];
}

/** Whole buckets, as many as fit: a device that lacks more asks again. */
function differingIn(held: readonly Held[], buckets: readonly string[]): Checked['differing'] {
  const fingerprint = new Fingerprint();
  const byBucket = new Map<number, Held[]>();
  for (const each of held) {
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
    if (differing.length > 0 && count > SYNC_LIMITS.checkedDocuments) break;
    differing.push({ bucket, documents });
  }
  return differing;
}
