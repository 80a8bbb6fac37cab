/** Writes of a device, and their verdicts. */
import { API_VERSIONS } from '../../query/session.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { fileName } from './files.ts';
import { documentId, hexDigits, micros, number32 } from './identifiers.ts';
import {
  integer,
  list,
  maybe,
  object,
  oneOf,
  optional,
  text,
  tuple,
  type TypeOf,
} from './schema.ts';

/** A write: the query, and all inputs (time, ids) that must be the same each time it runs. */
export const pushItem = object(() => ({
  /** 1, 2, 3, … without gaps. */
  seq: integer(1),
  /** SHA-256, hexadecimal, over all other members except `digest` and `idKey`. */
  hash: hexDigits(64),
  /** Wire JSON text. */
  query: text(SYNC_LIMITS.pushChars),
  apiVersion: oneOf(...API_VERSIONS),
  /** The value of `Now()`, µs: the hub's clock as the device estimates it. */
  now: micros,
  /** Ids of new documents, in the order in which the query generated them. */
  ids: list(documentId, SYNC_LIMITS.idsPerItem),
  /** Digest of its effects on the device. Undefined: the write was not executed there. */
  digest: maybe(hexDigits(64)),
  /** The key with which the ids were made (`device-ids.ts`). Undefined: the device had none yet. */
  idKey: maybe(hexDigits(64)),
}));
export type PushItem = TypeOf<typeof pushItem>;

/** The final result of a write. */
export const verdict = object(() => ({
  seq: integer(1),
  hash: hexDigits(64),
  /**
   * - `confirmed`: it had the effects that the device showed.
   * - `amended`: it was executed, but its result or effects differ from what the device showed.
   * - `refused`: it failed and had no effect.
   */
  state: oneOf('confirmed', 'amended', 'refused'),
  /** Time of the hub's commit. For a refused write: when it was judged. */
  ts: micros,
  /** The body of the HTTP response: `{"resource":…}` or `{"errors":[…]}`. Undefined if it is longer than `LIMITS.verdictBytes`. */
  body: maybe(text()),
  /** Files to which the written documents refer after the write. The device that has such a file uploads it now. */
  files: optional(
    list(
      tuple(number32, documentId, list(fileName, SYNC_LIMITS.filesInVerdict)),
      SYNC_LIMITS.filesInVerdict,
    ),
  ),
}));
export type Verdict = TypeOf<typeof verdict>;
