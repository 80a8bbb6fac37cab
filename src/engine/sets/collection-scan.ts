/** The documents of a collection as a set of refs, at present or in the past. Spec: sets 1.7, 4. */
import { after, collectionPrefix, documentKey, type Key, refOfKey } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import { unpackVersion } from '../../codec/row.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Entry, Row } from '../../store/port.ts';
import { Ref } from '../../values/value.ts';
import type { CollectionId, Micros, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { isExpired } from '../documents/documents.ts';
import { expiredKeys } from './expired.ts';
import { keyAmongRefs } from './match-entries.ts';
import { RangeScan, type ScanRange } from './range-scan.ts';
import { RunMerge } from './run-merge.ts';
import type { SetCursor, SetRequest } from './set-cursor.ts';
import { RefTuple, type Bound } from './tuple.ts';

/** @param collection the ref of the collection itself */
export function openDocuments(
  context: EngineContext,
  collection: Ref,
  sources: readonly Value[],
  request: SetRequest,
): SetCursor {
  const range = rangeOf(collection);
  const { past } = request;
  if (past !== undefined) return openPast(context, range, sources, request, past);
  const open = (rows: boolean, prefetch: boolean, isGone: (entry: Entry) => boolean) =>
    scanOf(context, { ...range, space: 'documents', rows, prefetch }, request, (entry) =>
      isGone(entry) ? undefined : new RefTuple(refOfKey(entry.key), sources),
    );
  let expired: ReadonlySet<Key> | undefined;
  let cursor = open(request.rows, true, ({ key }) => expired?.has(key) ?? false);
  let isFirst = true;
  const pullFirst = (): readonly RefTuple[] => {
    isFirst = false;
    // The list of expired documents is usually cached; otherwise it is fetched together with the first batch.
    let batch: readonly RefTuple[] = [];
    const reads = [() => void (expired = expiredKeys(context)), () => void (batch = cursor.pull())];
    eachElement(reads, (read) => read());
    if (expired) return batch;
    cursor = open(
      true,
      false,
      ({ row }) => row !== undefined && isExpiredRow(row, context.snapshot),
    );
    return cursor.pull();
  };
  return {
    pull: () => (isFirst ? pullFirst() : cursor.pull()),
    narrow: (bound) => cursor.narrow(bound),
  };
}

const isExpiredRow = ({ value }: Row, snapshot: Micros): boolean =>
  isExpired(unpackVersion(String(value)), snapshot);

interface CollectionRange extends Pick<ScanRange, 'by' | 'lower' | 'upper'> {
  readonly collection: Ref;
}

function rangeOf(collection: Ref): CollectionRange {
  const prefix = collectionPrefix(collection.database, Number(collection.id));
  return { by: 'key', ...prefixRange(prefix), collection };
}

/** A document as of one of its stored versions or delete markers. */
class VersionTuple extends RefTuple {
  readonly ts: Micros;
  readonly isLive: boolean;
  constructor(ref: Ref, sources: readonly Value[], ts: Micros, isLive: boolean) {
    super(ref, sources);
    this.ts = ts;
    this.isLive = isLive;
  }
}

/** The documents that exist at `past`: for each, its newest version that is not later, if that is live. */
function openPast(
  context: EngineContext,
  range: CollectionRange,
  sources: readonly Value[],
  request: SetRequest,
  past: Micros,
): SetCursor {
  const decode = ({ key, row }: Entry) => {
    if (!row) return undefined;
    const version = unpackVersion(String(row.value));
    if (version.ts > past) return undefined;
    const isLive = version.action !== 'delete' && !isExpired(version, context.snapshot);
    return new VersionTuple(refOfKey(key), sources, version.ts, isLive);
  };
  const wide = { ...request, first: request.first + 1 };
  const scans = (['documents', 'history'] as const).map((space) =>
    scanOf(context, { ...range, space, rows: true }, wide, decode),
  );
  const merge = new RunMerge(scans, request.backward);
  return {
    pull() {
      for (let runs = merge.next(); runs; runs = merge.next()) {
        const [first, ...others] = runs.flat();
        const newest = others.reduce(
          (best, each) => (best && each.ts <= best.ts ? best : each),
          first,
        );
        if (newest?.isLive) return [newest];
      }
      return [];
    },
    narrow(bound) {
      for (const scan of scans) scan.narrow(bound);
    },
  };
}

function scanOf<T extends RefTuple>(
  context: EngineContext,
  { collection, ...range }: ScanRange & CollectionRange,
  request: SetRequest,
  decode: (entry: Entry) => T | undefined,
): RangeScan<T> {
  const source = { reader: context.reader, meters: context.meters, partitions: 1 };
  const keyOf = (bound: Bound) => keyInCollection(bound, collection, range.lower);
  return new RangeScan(source, range, request, keyOf, decode);
}

function keyInCollection(bound: Bound, collection: Ref, prefix: Key): Key {
  const own: CollectionId = Number(collection.id);
  const keyOf = ({ id }: Ref) => documentKey(collection.database, own, id);
  const [value] = bound.values;
  if (value instanceof Ref && value.collection !== own) {
    // Refs are ordered by id, then by collection, so the bound is next to the ref with the same id in this collection.
    return value.collection < own ? keyOf(value) : after(keyOf(value));
  }
  return keyAmongRefs(bound, keyOf, prefix);
}
