/** Computes the changes of a collection, or of one document as a set, from stored versions. Spec: sets 6. */
import { collectionPrefix, decodeDocumentKey, documentKeyOf } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import { unpackVersion, type StoredVersion } from '../../codec/row.ts';
import { Ref, type Value } from '../../values/value.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { EngineContext } from '../context/context.ts';
import { versionsOf } from '../documents/document-events.ts';
import { minimumValidTime } from '../documents/documents.ts';
import { retained } from '../documents/retained.ts';
import { listAt, changeAt, type Change } from './changes.ts';
import { RangeScan, type ScanRange } from './range-scan.ts';
import { RefTuple, type Tuple } from './tuple.ts';
import type { Entry } from '../../store/port.ts';

/** Size of the first batch. The whole range is read, because entries are not ordered by time. */
const FIRST = 512;

export function changesOfDocuments(
  context: EngineContext,
  collection: Ref,
  sources: readonly Value[],
): readonly Change[] {
  const all = prefixRange(collectionPrefix(collection.database, Number(collection.id)));
  const scanRange = { by: 'key', ...all, rows: true } as const;
  const versions = new Map<bigint, StoredVersion[]>();
  for (const space of ['history', 'documents'] as const) {
    readAll(context, { ...scanRange, space }, 1, ({ key, row }) => {
      if (!row) return;
      const { id } = decodeDocumentKey(documentKeyOf(key));
      listAt(versions, id).push(unpackVersion(String(row.value)));
    });
  }
  const definition = context.schema(collection.database).collection(Number(collection.id));
  const minimum = definition ? minimumValidTime(definition, context.snapshot) : 0;
  return [...versions].flatMap(([id, list]) => {
    const ref = new Ref(collection.database, Number(collection.id), id);
    return changesOfVersions(retained(list, minimum), new RefTuple(ref, sources));
  });
}

export const changesOfDocument = (
  context: EngineContext,
  ref: Ref,
  sources: readonly Value[],
): readonly Change[] => changesOfVersions(versionsOf(context, ref), new RefTuple(ref, sources));

/** @param versions oldest first */
function changesOfVersions(versions: readonly StoredVersion[], tuple: Tuple): readonly Change[] {
  const changes: Change[] = [];
  let isThere = false;
  for (const { ts, action } of versions) {
    const isLive = action !== 'delete';
    if (isLive !== isThere) changes.push(changeAt(ts, isLive ? 'add' : 'remove', tuple));
    isThere = isLive;
  }
  return changes;
}

/** The changes of documents that the caller may read. */
export function readableChanges(
  changes: readonly Change[],
  mayRead: (ref: Ref) => boolean,
): readonly Change[] {
  const readable = eachElement(changes, ({ tuple }) => mayRead(tuple.ref));
  return changes.filter((_, i) => readable[i]);
}

export function readAll(
  { reader, meters }: EngineContext,
  scanRange: ScanRange,
  partitions: number,
  visit: (entry: Entry) => void,
): void {
  const none = () => scanRange.lower;
  const range = {
    past: undefined,
    backward: false,
    lower: [],
    upper: [],
    first: FIRST,
    rows: scanRange.rows,
    sources: false,
    filtered: false,
    tupleWork: 0,
  };
  const scan = new RangeScan<Entry>(
    { reader, meters, partitions },
    scanRange,
    range,
    none,
    (entry) => entry,
  );
  for (let batch = scan.pull(); batch.length > 0; batch = scan.pull()) batch.forEach(visit);
}
