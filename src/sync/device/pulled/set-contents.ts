/** What a device holds of a set, to be compared with the hub. */
import { decodeDocumentKey } from '../../../codec/key.ts';
import { unpackVersion } from '../../../codec/row.ts';
import type { Row } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { Micros } from '../../../values/value.ts';
import { ROOT_DATABASE } from '../../../engine/databases.ts';
import { partRange } from '../../protocol/set-parts.ts';
import { bucketOf, Fingerprint } from '../../protocol/fingerprint.ts';
import type { DocumentName } from '../../protocol/identifiers.ts';
import type { ReplicaSet } from '../state/api.ts';
import { scan } from '../../../store/scan.ts';

type Held = readonly [...DocumentName, Micros];

/** @throws Suspended */
export function fingerprintOfSet(reader: Reader, set: ReplicaSet): readonly string[] {
  const fingerprint = new Fingerprint();
  for (const [collection, id, ts] of heldIn(reader, set)) fingerprint.add(collection, id, ts);
  return fingerprint.buckets();
}

/** @throws Suspended */
export function documentsOfSet(
  reader: Reader,
  set: ReplicaSet,
  buckets: readonly number[],
): readonly Held[] {
  return heldIn(reader, set).filter(([collection, id]) =>
    buckets.includes(bucketOf(collection, id)),
  );
}

function heldIn(reader: Reader, { parts = [] }: ReplicaSet): readonly Held[] {
  const rows = new Map<string, Row>();
  for (const part of parts ?? []) {
    const range = scan('documents', partRange(part, ROOT_DATABASE));
    for (const { row } of reader.range(range)) if (row) rows.set(row.key, row);
  }
  return [...rows.values()].map((row): Held => {
    const { collection, id } = decodeDocumentKey(row.key);
    return [collection, String(id), unpackVersion(String(row.value)).ts];
  });
}
