/** The documents of the copy that belong to its sets. */
import { decodeDocumentKey, type Key } from '../../../codec/key.ts';
import { unpackVersion } from '../../../codec/row.ts';
import { ROOT_DATABASE } from '../../../engine/catalog.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Row } from '../../../store/port.ts';
import type { Reader, Writer } from '../../../store/reader.ts';
import { bucketOf, Fingerprint } from '../../protocol/fingerprint.ts';
import type { DatedDocument } from '../../protocol/identifiers.ts';
import { isInPart, partRange } from '../../protocol/set-parts.ts';
import type { SetPart } from '../../protocol/sets.ts';
import type { ChangedKeys } from '../rebase/changed-keys.ts';
import type { KeptSet } from '../state/replica-state.ts';
import { documentsIn, removeRows } from './confirmed-documents.ts';

/** The fingerprint of the documents of a set on this device. @throws Suspended */
export function fingerprintOfSet(reader: Reader, set: KeptSet): readonly string[] {
  const fingerprint = new Fingerprint();
  for (const document of documentsOfSet(reader, set)) fingerprint.add(document);
  return fingerprint.buckets();
}

/** Documents of a set in these buckets, with the hub's times. @throws Suspended */
export const documentsInBuckets = (
  reader: Reader,
  set: KeptSet,
  buckets: readonly number[],
): readonly DatedDocument[] =>
  documentsOfSet(reader, set).filter((document) => buckets.includes(bucketOf(document)));

function documentsOfSet(reader: Reader, { parts }: KeptSet): readonly DatedDocument[] {
  const rows = new Map<Key, Row>();
  for (const part of parts ?? [])
    for (const row of documentsInPart(reader, part)) rows.set(row.key, row);
  return [...rows.values()].map((row) => {
    const { collection, id } = decodeDocumentKey(row.key);
    return [collection, String(id), unpackVersion(String(row.value)).ts] as const;
  });
}

const documentsInPart = (reader: Reader, part: SetPart): readonly Row[] =>
  documentsIn(reader, partRange(part, ROOT_DATABASE));

/**
 * Removes documents that are in a `dropped` part and in no `kept` part.
 * @returns whether any document of the dropped parts stays, because it is in a kept part
 * @throws Suspended
 */
export function dropParts(
  writer: Writer,
  dropped: readonly SetPart[],
  kept: readonly SetPart[],
  changed: ChangedKeys,
): boolean {
  const keptTexts = new Set(kept.map((part) => JSON.stringify(part)));
  // Usually all parts are kept. Then nothing is read, however large they are.
  const gone = dropped.filter((part) => !keptTexts.has(JSON.stringify(part)));
  const found = eachElement(gone, (part) => documentsInPart(writer, part)).flat();
  const isKept = (row: Row) => kept.some((part) => isInPart(part, row, ROOT_DATABASE));
  const rows = new Set(found);
  const leaving = [...rows].filter((row) => !isKept(row));
  removeRows(writer, leaving, changed);
  return leaving.length < rows.size;
}
