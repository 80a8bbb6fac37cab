/** Sets that a device keeps a copy of, as messages tell of them. */
import { hexOfBytes } from '../../codec/hex.ts';
import { utf8Bytes } from '../../codec/utf8.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { count, documentId, hexBytes, number32 } from './identifiers.ts';
import {
  anyOf,
  byKind,
  list,
  maybe,
  object,
  oneOf,
  optional,
  text,
  type TypeOf,
} from './schema.ts';

/** What a set comes down to: a range of documents. Numbers are the hub's, and the device's. */
const setPart = byKind({
  collection: object(() => ({ kind: oneOf('collection'), collection: number32 })),
  index: object(() => ({
    kind: oneOf('index'),
    index: number32,
    /** Of its entries below database and index, hexadecimal. */
    prefix: hexBytes,
  })),
  document: object(() => ({ kind: oneOf('document'), collection: number32, id: documentId })),
});
export type SetPart = TypeOf<typeof setPart>;

const parts = list(setPart, SYNC_LIMITS.partsPerSet);

/**
 * How much of each part the device has, by the index of the part: up to and with this key (hexadecimal, without the database); '' nothing
 * yet; undefined: all of it.
 */
const positions = list(maybe(hexBytes), SYNC_LIMITS.partsPerSet);

const SET_ID_CHARS = 256;

/** The device's name for a set. */
const setId = text(SET_ID_CHARS);

/** The text itself where it is short. */
export const idOfSet = (query: string, sha256: (bytes: Uint8Array) => Uint8Array): string =>
  query.length <= SET_ID_CHARS ? query : hexOfBytes(sha256(utf8Bytes(query)));

/** Wire JSON text: `Documents(collection)`, `Match(index, terms…)`, a ref, or a union of such. */
const setQuery = text(SYNC_LIMITS.setChars);

export const setName = object(() => ({ id: setId, query: setQuery }));

export const requestedSet = object(() => ({
  id: setId,
  query: setQuery,
  loaded: anyOf(positions, oneOf('nothing')),
  /** As the hub last resolved the set: what stands for other parts by now is loaded again. Left out: taken to be the same. */
  parts: optional(parts),
}));
export type RequestedSet = TypeOf<typeof requestedSet>;

const setError = object(() => ({ code: text(), description: text() }));

export const setAnswer = object(() => ({
  id: setId,
  /** Empty when `error` is there. */
  parts,
  /** As in the request, after this answer. */
  loaded: positions,
  /** How many documents there are in all: told when loading begins, if the caller may know. Undefined: nothing new. */
  of: maybe(count),
  /** The caller may not read it, or it is gone: nothing of it belongs on the device. */
  error: maybe(setError),
}));
export type SetAnswer = TypeOf<typeof setAnswer>;
