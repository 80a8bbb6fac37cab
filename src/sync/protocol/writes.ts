/** Writes of a device, and what became of them. */
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

/** One write: the query itself, and everything that another run of it must not make up anew. */
export const pushItem = object(() => ({
  /** 1, 2, 3, … without a gap. */
  seq: integer(1),
  /** SHA-256, hexadecimal, over all other members but `digest` and `idKey`. */
  hash: hexDigits(64),
  /** Wire JSON text. */
  query: text(SYNC_LIMITS.pushChars),
  apiVersion: oneOf(...API_VERSIONS),
  /** What `Now()` is, µs of the hub's clock as far as the device knows it. */
  now: micros,
  /** Document ids in the order they were made up. */
  ids: list(documentId, SYNC_LIMITS.idsPerItem),
  /** Of what it did on the device; undefined: it was not run there. */
  digest: maybe(hexDigits(64)),
  /** With which the ids were made (`device-ids.ts`); undefined: the device had none yet. */
  idKey: maybe(hexDigits(64)),
}));
export type PushItem = TypeOf<typeof pushItem>;

/** What became of a write, for ever. */
export const verdict = object(() => ({
  seq: integer(1),
  hash: hexDigits(64),
  /**
   * - `confirmed`: it did what the device showed.
   * - `amended`: it was made, with another result or other effects than the device showed.
   * - `refused`: it failed, and did nothing.
   */
  state: oneOf('confirmed', 'amended', 'refused'),
  /** Of the hub's transaction; of a refused one, when it was judged. */
  ts: micros,
  /** What HTTP would have answered: `{"resource":…}` or `{"errors":[…]}`; undefined when longer than `LIMITS.verdictBytes`. */
  body: maybe(text()),
  /** The files that documents refer to as the write left them: whoever has one sends it now. */
  files: optional(
    list(
      tuple(number32, documentId, list(fileName, SYNC_LIMITS.filesInVerdict)),
      SYNC_LIMITS.filesInVerdict,
    ),
  ),
}));
export type Verdict = TypeOf<typeof verdict>;
