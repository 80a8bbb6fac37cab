/** Rows of a hub's log of changes, and how far back the log goes. */
import { decodeDocumentKey, syncKey, type Key } from '../../../codec/key.ts';
import { readSafeInt64 } from '../../../codec/ordered-bytes.ts';
import type { LoggedChange } from '../../../engine/transactions.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { CollectionId, DatabaseId, Micros } from '../../../values/value.ts';
import { recordIn, recordRow } from './records.ts';

const TS_BYTES = 8;

/** Time of the commit of a log row. */
export const commitTimeOf = (key: Key): Micros =>
  readSafeInt64({ key, at: key.length - TS_BYTES, mask: 0 });

/** The collection of the changed document. */
export const collectionOfChange = ({ key }: LoggedChange): CollectionId =>
  decodeDocumentKey(key).collection;

const horizonAddress = (database: DatabaseId): RowAddress => ({
  space: 'sync',
  key: syncKey('horizon', database),
});

/** The log contains all changes after this time. @throws Suspended */
export const horizonIn = (reader: Reader, database: DatabaseId): Micros =>
  (recordIn(reader, horizonAddress(database)) as Micros | undefined) ?? 0;

export const horizonRow = (database: DatabaseId, ts: Micros): Row =>
  recordRow(horizonAddress(database), ts);
