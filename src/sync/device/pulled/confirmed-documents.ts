/** Stores documents as the hub has confirmed them, with the index entries that they have on this device. */
import { documentKey, type Key } from '../../../codec/key.ts';
import { packVersion, unpackVersion, type StoredVersion } from '../../../codec/row.ts';
import type { EngineContext } from '../../../engine/context.ts';
import { ROOT_DATABASE } from '../../../engine/catalog.ts';
import { fieldsOf, allEntries, userEntries } from '../../../engine/documents.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Row } from '../../../store/port.ts';
import type { Reader, Writer } from '../../../store/reader.ts';
import { type ScanRange, scan } from '../../../store/scan.ts';
import { Ref, type Micros } from '../../../values/value.ts';
import type { DocumentName, PulledDocument } from '../../protocol/identifiers.ts';
import type { ChangedKeys } from '../rebase/changed-keys.ts';

export const keyOfDocument = ([collection, id]: DocumentName | PulledDocument): Key =>
  documentKey(ROOT_DATABASE, collection, BigInt(id));

/** @throws Suspended */
export const documentsIn = (reader: Reader, range: ScanRange): readonly Row[] =>
  reader.range(scan('documents', range)).flatMap(({ row }) => row ?? []);

/**
 * @param since cursor of the copy: a document that was created later is assumed to be absent here
 * @returns the documents that were stored here before, changed or not
 * @throws Suspended
 */
export function putConfirmed(
  context: EngineContext,
  writer: Writer,
  documents: readonly PulledDocument[],
  changed: ChangedKeys,
  since: Micros = Infinity,
): readonly PulledDocument[] {
  const before = eachElement(documents, (document) => {
    const address = { space: 'documents', key: keyOfDocument(document) } as const;
    return isCreatedAfter(since, document) ? writer.row(address, 'absent') : writer.row(address);
  });
  documents.forEach(([collection, id, stored], i) => {
    const version = { ...unpackVersion(stored), added: undefined };
    const ref = new Ref(ROOT_DATABASE, collection, BigInt(id));
    putVersion(context, writer, { ref, version, before: before[i] }, changed);
  });
  return documents.filter((_, i) => before[i]);
}

function isCreatedAfter(since: Micros, [, , stored]: PulledDocument): boolean {
  const { action, ts } = unpackVersion(stored);
  return action === 'create' && ts > since;
}

interface NewVersion {
  readonly ref: Ref;
  readonly version: StoredVersion;
  readonly before: Row | undefined;
}

/** Stores a version with its index entries by the present schema. Does nothing if the stored row is the same. @throws Suspended */
export function putVersion(
  context: EngineContext,
  writer: Writer,
  { ref, version, before }: NewVersion,
  changed: ChangedKeys,
): void {
  const fields = fieldsOf(context, ref, version);
  const indexed = userEntries(context, ref, fields, version);
  const row: Row = {
    key: documentKey(ref.database, ref.collection, ref.id),
    entries: allEntries(ref, fields, version.ttl, indexed),
    value: packVersion(version),
  };
  if (isSameRow(row, before)) return;
  writer.put('documents', row);
  changed.add(row.key, before, row);
}

const isSameRow = (a: Row, b: Row | undefined): boolean =>
  b?.value === a.value &&
  b.entries.length === a.entries.length &&
  a.entries.every((entry, i) => entry === b.entries[i]);

/** @throws Suspended */
export const removeConfirmed = (
  writer: Writer,
  names: readonly DocumentName[],
  changed: ChangedKeys,
): void =>
  removeRows(
    writer,
    eachElement(names, (name) => writer.row({ space: 'documents', key: keyOfDocument(name) })),
    changed,
  );

export function removeRows(
  writer: Writer,
  rows: Iterable<Row | undefined>,
  changed: ChangedKeys,
): void {
  for (const row of rows) {
    if (!row) continue;
    writer.delete('documents', row.key);
    changed.add(row.key, row);
  }
}
