/**
 * Requests of a device and answers of its hub: JSON, over any transport with requests and responses. The hub authenticates every request
 * by its credential; nothing that a device claims about itself extends its rights. docs/sync-protocol.md describes the order of messages.
 * A new message needs a schema in each of the two tables at the end, and a handler at the hub (`src/sync/hub/sync-hub.ts`).
 */
import { SYNC_LIMITS } from '../../limits.ts';
import {
  count,
  datedDocument,
  deviceId,
  documentId,
  documentName,
  epoch,
  hexDigits,
  hubTime,
  micros,
  pulledDocument,
} from './identifiers.ts';
import {
  list,
  maybe,
  object,
  oneOf,
  optional,
  text,
  where,
  type Schema,
  type TypeOf,
} from './schema.ts';
import { requestedSet, setAnswer, setName } from './sets.ts';
import { pushItem, verdict } from './writes.ts';

/** Incremented when a message changes its meaning. The hub refuses other protocols with `upgrade_needed`. */
export const SYNC_PROTOCOL = 2;

// --- hello: the first request, and repeated whenever the outcome of a request is unknown -------------

const hello = object(() => ({
  protocol: count,
  device: deviceId,
  /** Undefined before the first contact with the hub. */
  epoch: maybe(epoch),
  /** Number of the latest write that this device has made; 0 if none. If the hub knows a greater number, the device has lost state. */
  lastSeq: count,
  /** The device has the verdicts up to this number, under this id. If the hub does not know the device then, it has forgotten it. */
  settled: optional(count),
}));

/** The identity and the roles of the caller. With them the device predicts what the hub will allow. */
const actor = object(() => ({
  /** Names of the databases from the hub's root to the caller's database. */
  database: list(text()),
  /** Identifies this database even if it is renamed or moved. Undefined for the root. */
  globalId: optional(text()),
  /** The document as which the caller acts. */
  identity: maybe(documentName),
  role: oneOf('admin', 'server', 'server-readonly', 'client', 'roles'),
  /** Ids of the roles that apply, also by membership. */
  roles: list(documentId),
  /** Distinguishes callers without a document: the subject in a token of an identity provider, or the key. */
  subject: optional(text()),
}));
export type Actor = TypeOf<typeof actor>;
/** The part of an actor that does not change with its rights. */
export type Owner = Pick<Actor, 'database' | 'globalId' | 'identity' | 'subject'>;

const welcome = object(() => ({
  protocol: count,
  /** Id of the device that sent hello. A device ignores an answer to another id. */
  device: deviceId,
  epoch,
  /** The hub's clock, µs. The device corrects its own clock with it. */
  hubTime,
  /** Number of the latest write of this device that has a verdict at the hub. */
  lastSeq: count,
  actor,
  /** When the credential expires, µs. */
  expiresAt: maybe(micros),
  /** When the password of the identity was last set. The device no longer accepts an older password that it stored for offline use. */
  passwordSetAt: maybe(micros),
  /** The key with which the device makes ids (`device-ids.ts`). It never changes for a device of a person. */
  idKey: hexDigits(64),
}));

// --- pull: changes since `cursor` in the sets, and the next page of incomplete sets, consistent at one time ---

const pull = where(
  object(() => ({
    device: deviceId,
    epoch,
    /** Undefined: the device does not know which changes it has. The answer then begins at the head, and asks for a check. */
    cursor: maybe(micros),
    /** The token of the latest answer that the device has stored; undefined if none. */
    token: optional(text(256)),
    /** Version of the schema that the device has. */
    schema: maybe(hexDigits(64)),
    /** In order of priority: pages are sent for the first set that is not complete. */
    sets: list(requestedSet, SYNC_LIMITS.sets),
    /** Documents that the answer must contain or report as gone, whether they changed or not. */
    refetch: list(documentName, SYNC_LIMITS.refetch),
    /** The device has stored the verdicts up to this number. */
    settled: count,
    /** Approximate maximum size of the answer. */
    maxBytes: count,
  })),
  ({ sets }) => new Set(sets.map(({ id }) => id)).size === sets.length,
  'sets with an id of their own each',
);

const pulled = object(() => ({
  epoch,
  /** The answer shows the sets as of this time, unless `more` is set. */
  cursor: hubTime,
  /** New in each answer: the roles that applied, and when the copy was last compared. Stored in one commit with the answer. */
  token: optional(text()),
  /** The token of the request. A copy whose token has changed since ignores the answer. */
  after: optional(text()),
  /** Not all changes fit: store this part, pull again from `cursor`, and show the changes only when the last part has come. */
  more: oneOf(true, false),
  /** The answer contains the effects of this device's writes up to this number. */
  lastSeq: count,
  /** Verdicts above `settled`, up to `lastSeq`. */
  verdicts: list(verdict),
  actor,
  /** The whole schema, if the device has another version. The device removes schema objects that are not in it. */
  schema: maybe(object(() => ({ version: text(), documents: list(pulledDocument) }))),
  puts: list(pulledDocument),
  /** Documents that were deleted, have left the sets, or may no longer be read by the caller. */
  leaves: list(documentName),
  sets: list(setAnswer),
  /**
   * The device must compare fingerprints: since the token, rights have changed in a way that the changes do not show, or the log of changes
   * does not go back that far. The hub sends this once; the device remembers it until it has compared.
   */
  check: oneOf(true, false),
  /** With `check`: the answer lacks the changes since the cursor. Until the comparison, it is unknown what is missing in the sets. */
  skipped: optional(oneOf(true, false)),
}));

/** The answer to the next pull of a device, sent without a request. Only valid if the device has this cursor; otherwise it must pull. */
export const piggybackedPull = object(() => ({
  /** The cursor for which the answer was made. */
  since: micros,
  pulled,
}));
export type PiggybackedPull = TypeOf<typeof piggybackedPull>;

// --- push: writes in order, starting with the first one without a verdict -----------------------------

const push = where(
  object(() => ({
    device: deviceId,
    epoch,
    items: list(pushItem, SYNC_LIMITS.pushItems),
    /** The device has stored the verdicts up to this number, so the hub may forget them. */
    settled: count,
  })),
  ({ items }) =>
    items.reduce((sum, { query }) => sum + query.length, 0) <= SYNC_LIMITS.pushChars &&
    items.every(({ seq }, i) => seq === (items[0]?.seq ?? 0) + i),
  'items numbered one after the other, within the limit of characters',
);

const pushed = object(() => ({
  lastSeq: count,
  /** Verdicts on the items, in order, up to the first item that was not judged. */
  verdicts: list(verdict),
  /** The answer to the device's next pull, if it is small. */
  brought: optional(piggybackedPull),
}));

// --- check: finds the documents of a set that differ ----------------------------------------------------

export const FINGERPRINT_BUCKETS = 256;

const check = object(() => ({
  device: deviceId,
  epoch,
  set: setName,
  /** The sum of each bucket over its documents, modulo 2^64 (`fingerprint.ts`). */
  buckets: where(
    list(hexDigits(16), FINGERPRINT_BUCKETS),
    ({ length }) => length === FINGERPRINT_BUCKETS,
    `${FINGERPRINT_BUCKETS} sums`,
  ),
}));

const checked = object(() => ({
  /** All documents of each differing bucket, with their times. */
  differing: list(object(() => ({ bucket: count, documents: list(datedDocument) }))),
  /** More buckets differ than the answer contains: check again after this. */
  more: optional(oneOf(true, false)),
}));

// ---------------------------------------------------------------------------------------------------------

/** The requests of a device by name: `POST /sync/<name>`. */
const requests = { hello, push, pull, check };
/** The hub's answers. */
const answers = { hello: welcome, push: pushed, pull: pulled, check: checked };

export type RequestName = keyof typeof requests;
export type RequestOf<N extends RequestName> = TypeOf<(typeof requests)[N]>;
export type AnswerOf<N extends RequestName> = TypeOf<(typeof answers)[N]>;

export const REQUESTS: { readonly [N in RequestName]: Schema<RequestOf<N>> } = requests;
export const ANSWERS: { readonly [N in RequestName]: Schema<AnswerOf<N>> } = answers;

export const isRequestName = (name: string): name is RequestName => Object.hasOwn(ANSWERS, name);
export const REQUEST_NAMES: readonly RequestName[] = Object.keys(ANSWERS).filter(isRequestName);

export type Hello = RequestOf<'hello'>;
export type Welcome = AnswerOf<'hello'>;
export type Push = RequestOf<'push'>;
export type Pushed = AnswerOf<'push'>;
export type Pull = RequestOf<'pull'>;
export type Pulled = AnswerOf<'pull'>;
export type Check = RequestOf<'check'>;
export type Checked = AnswerOf<'check'>;
