/**
 * Writes the versions that a query makes. One query makes at most one version of a document, at its commit time. However often the query
 * writes the document, that version supersedes the one from before the query. Spec: sets 1.2, 6.
 */
import { historyKey, type Key } from '../../codec/key.ts';
import { packVersion, unpackVersion, type StoredVersion } from '../../codec/row.ts';
import type { Step } from '../../errors.ts';
import type { Row } from '../../store/port.ts';
import type { Writer } from '../../store/reader.ts';
import type { Micros, ObjectValue, Ref } from '../../values/value.ts';
import { boundedWork } from '../context/budget.ts';
import type { EngineContext } from '../context/context.ts';
import { isExpired, keyOf } from './documents.ts';
import { endedBy, heldSince, type HeldEntries } from './entry-timeline.ts';
import { rewriteHistory } from './history-rewrite.ts';
import { SCHEMA_COLLECTIONS } from '../catalog/refs.ts';
import { bodyOf } from './stored-values.ts';
import { requireUnique } from './unique.ts';
import {
  allEntries,
  deleteMarker,
  putCurrent,
  ttlOf,
  entriesToWrite,
  writerOf,
  type IndexedEntries,
} from './version-rows.ts';

/** Units of work for each character of a body, which is serialized and compared with the previous body. */
const BODY_WORK = 20;

/**
 * Writes `fields` as the current version of a document.
 * @param position position in the query at which a clash with a unique index is reported
 */
export function writeVersion(
  context: EngineContext,
  ref: Ref,
  fields: ObjectValue,
  position: readonly Step[] = [],
): StoredVersion {
  const writer = writerOf(context);
  const key = keyOf(ref);
  const { before, version, indexed } = plannedVersion(context, writer, ref, fields, position);
  if (context.rewritten.has(key)) rewriteHistory(context, ref, { ts: version.ts, fields });
  else {
    const entries = allEntries(ref, fields, version.ttl, indexed);
    if (before) {
      putSuperseded(context, writer, ref, before, entries);
      writer.discard('history', markerKey(context, ref));
    }
    const added = addedTimes(before, entries, version.ts);
    putCurrent(context, writer, { key, entries, version, added });
  }
  invalidateSchema(context, ref);
  return version;
}

interface PlannedVersion {
  /** The row from before this query. */
  readonly before: Row | undefined;
  readonly version: StoredVersion;
  readonly indexed: readonly IndexedEntries[];
}

function plannedVersion(
  context: EngineContext,
  writer: Writer,
  ref: Ref,
  fields: ObjectValue,
  position: readonly Step[],
): PlannedVersion {
  // A document that is updated has already been read, and one that is created almost never exists, so absence can be assumed.
  const address = { space: 'documents', key: keyOf(ref) } as const;
  const present = context.reader.row(address, 'absent');
  const before = writer.base.row(address, 'absent');
  const version = versionOf(context, ref, fields, before);
  const indexed = entriesToWrite(context, ref, fields, version);
  requireUnique(context, ref, indexed, present?.entries ?? [], position);
  return { before, version, indexed };
}

/** Deletes an existing document. */
export function deleteDocument(context: EngineContext, ref: Ref): void {
  const writer = writerOf(context);
  const key = keyOf(ref);
  if (context.rewritten.has(key)) {
    rewriteHistory(context, ref, { ts: context.commitTs, fields: undefined });
  } else {
    const before = writer.base.row({ space: 'documents', key });
    writer.delete('documents', key);
    // A document that this same query created was never committed, so it leaves no history.
    if (before) {
      putSuperseded(context, writer, ref, before, []);
      const value = packVersion(deleteMarker(context.commitTs));
      writer.put('history', { key: markerKey(context, ref), entries: [], value });
    }
    context.meters.countWrite(key, key.length);
  }
  invalidateSchema(context, ref);
}

/** Drops the parsed schema if the document is a schema object. */
export function invalidateSchema(context: EngineContext, ref: Ref): void {
  if (SCHEMA_COLLECTIONS.has(ref.collection)) context.schema(ref.database).forget();
}

const markerKey = ({ commitTs }: EngineContext, ref: Ref): Key =>
  historyKey(ref.database, ref.collection, ref.id, commitTs);

function versionOf(
  context: EngineContext,
  ref: Ref,
  fields: ObjectValue,
  before: Row | undefined,
): StoredVersion {
  const isThere = before && !isExpired(unpackVersion(String(before.value)), context.snapshot);
  const stored = bodyOf(fields, ref.database);
  context.meters.budget.spend(boundedWork(stored.body.length * BODY_WORK));
  return {
    ts: context.commitTs,
    action: isThere ? 'update' : 'create',
    ttl: ttlOf(fields),
    added: undefined,
    ...stored,
  };
}

/** For each entry, since when it is held. An entry that the previous version also had keeps its time. */
function addedTimes(
  before: Row | undefined,
  entries: readonly Key[],
  ts: Micros,
): readonly Micros[] | undefined {
  return before && [...heldSince({ ts, entries }, heldBy(before)).values()];
}

function heldBy(row: Row): HeldEntries {
  const { ts, added } = unpackVersion(String(row.value));
  return new Map(row.entries.map((entry, i) => [entry, added?.[i] ?? ts]));
}

/** Moves the previous version to `history`, with the entries that end now. */
function putSuperseded(
  context: EngineContext,
  writer: Writer,
  ref: Ref,
  before: Row,
  entries: readonly Key[],
): void {
  const version = unpackVersion(String(before.value));
  writer.put('history', {
    key: historyKey(ref.database, ref.collection, ref.id, version.ts),
    entries: endedBy({ ts: context.commitTs, entries }, heldBy(before)),
    value: packVersion({ ...version, added: undefined }),
  });
}
