/** Reads the rows of a store in memory without an engine, because the invariants must not use the code that they judge. */
import { databasePrefix, decodeDocumentKey, syncKey, type Key } from '../../../codec/key.ts';
import { prefixRange, type KeyRange } from '../../../codec/ranges.ts';
import type { Row } from '../../../store/port.ts';
import type { Version } from './sim-hub.ts';

/** A parsed document of a user collection. */
export interface RawDocument {
  readonly key: Key;
  readonly row: Row;
  readonly collection: number;
  readonly id: string;
  readonly ts: string;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const FIRST_USER_COLLECTION = 1024;
const known = new WeakMap<Row, RawDocument>();

export function documentRows(version: Version): readonly RawDocument[] {
  return allIn(version.documents, prefixRange(databasePrefix(0))).flatMap((row) => {
    const raw = known.get(row) ?? rawOf(row);
    known.set(row, raw);
    return raw.collection >= FIRST_USER_COLLECTION ? raw : [];
  });
}

/** Schema objects of a native collection: collections, roles and so on. */
export function schemaRows(version: Version, native: number): readonly RawDocument[] {
  return allIn(version.documents, prefixRange(databasePrefix(0))).flatMap((row) => {
    const raw = known.get(row) ?? rawOf(row);
    known.set(row, raw);
    return raw.collection === native ? raw : [];
  });
}

export function syncRows(version: Version, list: string): readonly Row[] {
  return allIn(version.sync, prefixRange(syncKey(list)));
}

function allIn({ keys }: Version['sync'], range: KeyRange): readonly Row[] {
  const limit = Number.MAX_SAFE_INTEGER;
  return keys.within({ ...range, limit, reverse: false }).flatMap(({ row }) => row ?? []);
}

function rawOf(row: Row): RawDocument {
  const text = String(row.value);
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  const { collection, id } = decodeDocumentKey(row.key);
  const parsed = (body === '' ? {} : JSON.parse(body)) as { data?: Record<string, unknown> };
  // Action letter, flag and time. The part after `+`, the times of index entries, differs between hub and device.
  const ts = text.slice(0, end).split('+')[0] ?? '';
  const data = collection < FIRST_USER_COLLECTION ? parsed : (parsed.data ?? {});
  return { key: row.key, row, collection, id: String(id), ts, body, data };
}
