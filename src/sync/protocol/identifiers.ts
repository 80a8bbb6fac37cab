/** Schemas of values that occur in many messages. */
import { integer, text, textLike, tuple, valid, type Schema, type TypeOf } from './schema.ts';

/* @__NO_SIDE_EFFECTS__ */
export const hexDigits = (count: number): Schema<string> =>
  textLike(new RegExp(`^[\\da-f]{${count}}$`), `${count} hexadecimal digits`);

/** Hexadecimal digits of whole bytes. */
export const hexBytes = textLike(/^([\da-f]{2})*$/, 'hexadecimal bytes');

/** Identifies one replica of one database, for one identity. */
export const deviceId = hexDigits(32);
export type DeviceId = TypeOf<typeof deviceId>;

/** Identifies the history of a hub. It changes when the hub is restored from a backup: messages of another epoch are not valid. */
export const epoch = hexDigits(32);
export type Epoch = TypeOf<typeof epoch>;

/** Microseconds since the Unix epoch. */
export const micros = integer();

/** 2200-01-01. Times are exact until 2255. */
export const HUB_TIME_MAX = Date.UTC(2200, 0) * 1000;

/** A hub's time. Bounded, because a copy commits at this time or later, and could not store anything after the last exact time. */
export const hubTime = integer(0, HUB_TIME_MAX);

/** An integer, zero or more. */
export const count = integer(0);

const UINT32_MAX = 0xffff_ffff;

/** Number of a collection or an index. Devices use the numbers of the hub. */
export const number32 = integer(0, UINT32_MAX);

const ID_MAX = 2n ** 63n - 1n;

export const documentId = valid(
  (id): id is string =>
    typeof id === 'string' && /^(0|[1-9]\d{0,18})$/.test(id) && BigInt(id) <= ID_MAX,
  'a document id in decimal digits, below 2^63',
);

export const documentName = tuple(number32, documentId);
/** Number of the collection, and id. */
export type DocumentName = TypeOf<typeof documentName>;

/** Stored text of the current version of a document, with its header line (`src/codec/row.ts`), but without the times of index entries. */
export const pulledDocument = tuple(number32, documentId, text());
/** Number of the collection, id and stored text. */
export type PulledDocument = TypeOf<typeof pulledDocument>;

export const datedDocument = tuple(number32, documentId, micros);
/** Number of the collection, id and time of the version. */
export type DatedDocument = TypeOf<typeof datedDocument>;
