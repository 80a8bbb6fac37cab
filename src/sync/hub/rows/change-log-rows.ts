/** Rows of a hub's log of changes, and how far back the log reaches. */
import { decodeDocumentKey, syncKey, type Key } from '../../../codec/key.ts';
import { readSafeInt64 } from '../../../codec/ordered-bytes.ts';
import type { LoggedChange } from '../../../engine/change-log.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import { recordIn } from './device-rows.ts';

const TS_BYTES = 8;

/** When the commit was that a row of the log tells of. */
export const tsOf = (key: Key): Micros =>
  readSafeInt64({ key, at: key.length - TS_BYTES, mask: 0 });

const horizonAddress = (database: DatabaseId): RowAddress => ({
  space: 'sync',
  key: syncKey('horizon', database),
});

/** The log holds all changes after this. @throws Suspended */
export const horizonIn = (reader: Reader, database: DatabaseId): Micros =>
  (recordIn(reader, horizonAddress(database)) as Micros | undefined) ?? 0;

export const horizonRow = (database: DatabaseId, ts: Micros): Row => ({
  key: horizonAddress(database).key,
  entries: [],
  value: JSON.stringify(ts),
});

/** Number of the collection whose document changed. */
export const collectionOfChange = ({ key }: LoggedChange): number =>
  decodeDocumentKey(key).collection;
