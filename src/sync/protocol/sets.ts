/** Sets of documents of which a device keeps a copy, in messages. */
import { hexHash, type Sha256 } from '../../codec/sha256.ts';
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

/** A part of a set: a range of documents. Device and hub use the same numbers of collections and indexes, those of the hub. */
const setPart = byKind({
  collection: object(() => ({ kind: oneOf('collection'), collection: number32 })),
  index: object(() => ({
    kind: oneOf('index'),
    index: number32,
    /** Common prefix of the entries, without the numbers of database and index. Hexadecimal. */
    prefix: hexBytes,
  })),
  document: object(() => ({ kind: oneOf('document'), collection: number32, id: documentId })),
});
export type SetPart = TypeOf<typeof setPart>;

const parts = list(setPart, SYNC_LIMITS.partsPerSet);

/**
 * How much of each part the device has, by the index of the part: up to and including this key (hexadecimal, without the database); '' if
 * nothing yet; undefined if all of it.
 */
const positions = list(maybe(hexBytes), SYNC_LIMITS.partsPerSet);

const SET_ID_CHARS = 256;

/** The device's id for a set. */
const setId = text(SET_ID_CHARS);

/** The query itself if it is short, otherwise its hash. */
export const idOfSet = (query: string, sha256: Sha256): string =>
  query.length <= SET_ID_CHARS ? query : hexHash(query, sha256);

/** Wire JSON text: `Documents(collection)`, `Match(index, terms…)`, a ref, or a union of these. */
const setQuery = text(SYNC_LIMITS.setChars);

export const setName = object(() => ({ id: setId, query: setQuery }));

export const requestedSet = object(() => ({
  id: setId,
  query: setQuery,
  loaded: anyOf(positions, oneOf('nothing')),
  /** As the hub last resolved the set: parts that have changed since are loaded again. If absent, they are assumed to be unchanged. */
  parts: optional(parts),
}));
export type RequestedSet = TypeOf<typeof requestedSet>;

const setError = object(() => ({ code: text(), description: text() }));

export const setAnswer = object(() => ({
  id: setId,
  /** Empty if there is an `error`. */
  parts,
  /** As in the request, but including this answer. */
  loaded: positions,
  /** Total number of documents, when loading begins, if the caller may know it. Undefined: no new information. */
  of: maybe(count),
  /** The caller may not read the set, or it no longer exists: the device must keep none of it. */
  error: maybe(setError),
}));
export type SetAnswer = TypeOf<typeof setAnswer>;
