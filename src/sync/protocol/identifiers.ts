/** Values that occur in many messages. */
import { integer, text, textLike, tuple, valid, type Schema, type TypeOf } from './schema.ts';

/* @__NO_SIDE_EFFECTS__ */
export const hexDigits = (count: number): Schema<string> =>
  textLike(new RegExp(`^[\\da-f]{${count}}$`), `${count} hexadecimal digits`);

/** Whole bytes. */
export const hexBytes = textLike(/^([\da-f]{2})*$/, 'hexadecimal bytes');

/** One replica of one database, of one identity. */
export const deviceId = hexDigits(32);
export type DeviceId = TypeOf<typeof deviceId>;

/** Changes when a hub is restored from a copy: everything said under another epoch is of another history. */
export const epoch = hexDigits(32);
export type Epoch = TypeOf<typeof epoch>;

/** Microseconds since 1970. */
export const micros = integer();

/** Zero or more. */
export const count = integer(0);

const UINT32_MAX = 0xffff_ffff;

/** Number of a collection, or of an index: the hub's, which devices use too. */
export const number32 = integer(0, UINT32_MAX);

const ID_MAX = 2n ** 63n - 1n;

export const documentId = valid(
  (id): id is string =>
    typeof id === 'string' && /^(0|[1-9]\d{0,18})$/.test(id) && BigInt(id) <= ID_MAX,
  'a document id in decimal digits, below 2^63',
);

export const documentName = tuple(number32, documentId);
/** Collection and id. */
export type DocumentName = TypeOf<typeof documentName>;

/** Stored text of the current version of a document, header line included (`src/codec/row.ts`), without times of index entries. */
export const pulledDocument = tuple(number32, documentId, text());
/** Collection, id and stored text. */
export type PulledDocument = TypeOf<typeof pulledDocument>;

export const datedDocument = tuple(number32, documentId, micros);
/** Collection, id, and the time of its version. */
export type DatedDocument = TypeOf<typeof datedDocument>;
