/**
 * Requests of a device and answers of its hub: JSON over any transport that carries a request and its answer. Every request is made under
 * a credential of the hub; what a device says about itself widens nothing. docs/sync-protocol.md tells the order of things. A new message
 * is a schema in each of the two tables at the end, and its handler at the hub (`src/sync/hub/sync-hub.ts`).
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

/** Raised when a message changes its meaning. A hub answers every protocol it ever spoke, or says `upgrade_needed`. */
export const SYNC_PROTOCOL = 2;

// --- hello: before anything else, and after every unknown outcome -----------------------------------

const hello = object(() => ({
  protocol: count,
  device: deviceId,
  /** Undefined before the first contact. */
  epoch: maybe(epoch),
  /** Of the latest write this device ever made; 0: none. A hub that knows more has met a later state of the device. */
  lastSeq: count,
  /** It has verdicts up to here, under this id. A hub that knows nothing of it has forgotten the device. */
  settled: optional(count),
}));

/** Who the hub takes the caller for: by that the device previews what will be allowed. */
const actor = object(() => ({
  /** Path of names below the hub's root. */
  database: list(text()),
  /** The document it acts as. */
  identity: maybe(documentName),
  role: oneOf('admin', 'server', 'server-readonly', 'client', 'roles'),
  /** Ids of the roles in force, by membership too. */
  roles: list(documentId),
  /** Whom its token of an identity provider names, or which key it holds: tells callers without a document apart. */
  subject: optional(text()),
}));
export type Actor = TypeOf<typeof actor>;
/** Of an actor, what does not change with its rights. */
export type Owner = Pick<Actor, 'database' | 'identity' | 'subject'>;

const welcome = object(() => ({
  protocol: count,
  /** That said hello: an answer to another device says nothing to this one. */
  device: deviceId,
  epoch,
  /** The hub's clock, µs: a device measures its own by it. */
  hubTime: micros,
  /** Of the latest write of this device that has a verdict at the hub. */
  lastSeq: count,
  actor,
  /** When the credential ends, µs. */
  expiresAt: maybe(micros),
  /** When the password of the identity was set last: a device's own check of an older one is invalid from then on. */
  passwordSetAt: maybe(micros),
  /** With it the device makes ids (`device-ids.ts`). Always the same for a device of a person. */
  idKey: hexDigits(64),
}));

// --- pull: what changed since `cursor` in the sets, and the next page of those not complete; at one time ---

const pull = where(
  object(() => ({
    device: deviceId,
    epoch,
    /** Undefined: the device does not know what it lacks; the answer begins at the head, and asks for a check. */
    cursor: maybe(micros),
    /** As it came with the latest answer that is stored on the device; undefined: none is. */
    token: optional(text(256)),
    /** Version of the schema the device has. */
    schema: maybe(hexDigits(64)),
    /** In order of priority: pages come from the first that is not complete. */
    sets: list(requestedSet, SYNC_LIMITS.sets),
    /** Documents to be sent, or said to be gone, whether they changed or not. */
    refetch: list(documentName, SYNC_LIMITS.refetch),
    /** Verdicts up to this number are kept by the device. */
    settled: count,
    /** About this much is answered at most. */
    maxBytes: count,
  })),
  ({ sets }) => new Set(sets.map(({ id }) => id)).size === sets.length,
  'sets with an id of their own each',
);

const pulled = object(() => ({
  epoch,
  /** The answer shows the sets as they were at this time, unless `more`. */
  cursor: micros,
  /** Another with each answer: says what was judged of this copy. Stored with what the answer brought, and sent with the next request. */
  token: optional(text()),
  /** The token of the request: a copy that has another one by now has no use for the answer. */
  after: optional(text()),
  /** The changes up to the head did not fit: keep these, ask again from `cursor`, and show none before the last has come. */
  more: oneOf(true, false),
  /** Writes of this device up to here are in what the answer shows. */
  lastSeq: count,
  /** Verdicts above `settled`, up to `lastSeq`. */
  verdicts: list(verdict),
  actor,
  /** When it differs from the device's: all of it, and what is not in it goes. */
  schema: maybe(object(() => ({ version: text(), documents: list(pulledDocument) }))),
  puts: list(pulledDocument),
  /** Gone, out of the sets, or out of the caller's rights. */
  leaves: list(documentName),
  sets: list(setAnswer),
  /**
   * Since the token rights changed in a way that the changes do not tell, or the log of changes does not reach back: the device is to
   * compare fingerprints. It is told once, and remembers it until it has done so.
   */
  check: oneOf(true, false),
  /** With `check`: changes since the device's cursor are not told, so nobody knows what its sets lack before they were compared. */
  skipped: optional(oneOf(true, false)),
}));

/** What a pull would bring, sent along unasked: for a device that stands where the hub thinks it does. Any other asks. */
export const piggybackedPull = object(() => ({
  /** The device's cursor. */
  since: micros,
  pulled,
}));
export type PiggybackedPull = TypeOf<typeof piggybackedPull>;

// --- push: writes in order, from the first the hub has no verdict on ----------------------------------

const push = where(
  object(() => ({
    device: deviceId,
    epoch,
    items: list(pushItem, SYNC_LIMITS.pushItems),
    /** Verdicts up to this number are kept by the device: the hub may forget them. */
    settled: count,
  })),
  ({ items }) =>
    items.reduce((sum, { query }) => sum + query.length, 0) <= SYNC_LIMITS.pushChars &&
    items.every(({ seq }, i) => seq === (items[0]?.seq ?? 0) + i),
  'items numbered one after the other, within the limit of characters',
);

const pushed = object(() => ({
  lastSeq: count,
  /** Of the items, as far as they were judged, in order. */
  verdicts: list(verdict),
  /** What a pull would bring after that, when it is little. */
  brought: optional(piggybackedPull),
}));

// --- check: which documents of a set differ -------------------------------------------------------------

export const FINGERPRINT_BUCKETS = 256;

const check = object(() => ({
  device: deviceId,
  epoch,
  set: setName,
  /** For each bucket the sum, modulo 2^64, over its documents (`fingerprint.ts`). */
  buckets: where(
    list(hexDigits(16), FINGERPRINT_BUCKETS),
    ({ length }) => length === FINGERPRINT_BUCKETS,
    `${FINGERPRINT_BUCKETS} sums`,
  ),
}));

const checked = object(() => ({
  /** All documents of each bucket that differs, with their times. */
  differing: list(object(() => ({ bucket: count, documents: list(datedDocument) }))),
  /** More buckets differ than are told: ask again. */
  more: optional(oneOf(true, false)),
}));

// ---------------------------------------------------------------------------------------------------------

/** What a device may ask, by the name it is asked under: `POST /sync/<name>`. */
const requests = { hello, push, pull, check };
/** What the hub answers to it. */
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
