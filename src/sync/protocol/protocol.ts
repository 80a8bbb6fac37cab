/**
 * What a device and its hub say to each other: JSON over any transport that carries a request and its answer. Every request is
 * made under a credential of the hub; what a device says about itself widens nothing. docs/sync.md tells the whole story.
 */
import type { Micros } from '../../values/value.ts';

/** Raised when a message changes its meaning. A hub answers every protocol it ever spoke, or says `upgrade needed`. */
export const SYNC_PROTOCOL = 1;

/** 32 hexadecimal digits: one replica of one database, of one identity. */
export type DeviceId = string;
/** 32 hexadecimal digits: changes when the hub was restored from a copy. */
export type Epoch = string;

/** `POST /sync/hello`: before anything else, and after every unknown outcome. */
export interface Hello {
  readonly protocol: number;
  readonly device: DeviceId;
  /** Undefined before the first contact. */
  readonly epoch: Epoch | undefined;
  /** Of the latest write this device ever made; 0: none. A hub that knows more has met a later state of the device. */
  readonly lastSeq: number;
}

export interface Welcome {
  readonly protocol: number;
  /** That said hello: what was answered to another device says nothing to this one. */
  readonly device: DeviceId;
  readonly epoch: Epoch;
  /** The hub's clock, µs: a device measures its own by it. */
  readonly hubTime: Micros;
  /** Of the latest write of this device that has a verdict here. */
  readonly lastSeq: number;
  readonly actor: Actor;
  /** When the credential ends, µs. */
  readonly expiresAt: Micros | undefined;
  /** When the password of the identity was set last: a device's own check of an older one is good no more. */
  readonly passwordSetAt: Micros | undefined;
}

/** Who the hub takes the caller for: by that the device previews what will be allowed. */
export interface Actor {
  /** Path of names below the hub's root. */
  readonly database: readonly string[];
  /** The document it acts as: collection number and id. */
  readonly identity: readonly [collection: number, id: string] | undefined;
  readonly role: 'admin' | 'server' | 'server-readonly' | 'client' | 'roles';
  /** Ids of the roles in force, by membership too. */
  readonly roles: readonly string[];
}

/** One write of a device: the query itself, and everything it must not make up anew. */
export interface PushItem {
  /** 1, 2, 3, … without a gap. */
  readonly seq: number;
  /** SHA-256, hexadecimal, over all other members but `digest`. */
  readonly hash: string;
  /** Wire JSON text. */
  readonly query: string;
  readonly apiVersion: string;
  /** What `Now()` is, µs of the hub's clock as far as the device knows it. */
  readonly now: Micros;
  /** Document ids in the order they were made up. */
  readonly ids: readonly string[];
  /** Of what it did here; undefined: it was not run here. */
  readonly digest: string | undefined;
}

/** `POST /sync/push`: in order, from the first the hub has no verdict on. */
export interface Push {
  readonly device: DeviceId;
  readonly epoch: Epoch;
  readonly items: readonly PushItem[];
  /** Verdicts up to this one are kept by the device: the hub may forget them. */
  readonly settled: number;
}

/**
 * What became of a write, for ever.
 * - `confirmed`: it did what the device showed.
 * - `amended`: it was made, with another result or other effects than the device showed.
 * - `refused`: it failed, and did nothing.
 */
export interface Verdict {
  readonly seq: number;
  readonly hash: string;
  readonly state: 'confirmed' | 'amended' | 'refused';
  /** Of the hub's transaction; of a refused one, when it was judged. */
  readonly ts: Micros;
  /** What HTTP would have answered: `{"resource":…}` or `{"errors":[…]}`; undefined when longer than `LIMITS.verdictBytes`. */
  readonly body: string | undefined;
}

export interface Pushed {
  readonly lastSeq: number;
  /** Of the items, as far as they were judged, in order. */
  readonly verdicts: readonly Verdict[];
  /** What a pull would bring after that, when it is little. */
  readonly brought?: Brought;
}

/** A set that the device keeps a copy of. */
export interface PulledSet {
  /** The device's name for it. */
  readonly id: string;
  /** Wire JSON text: `Documents(collection)`, `Match(index, terms…)`, a ref, or a union of such. */
  readonly query: string;
  /**
   * How much of each part is here, by the index of the part: up to and with this place (hexadecimal); '' nothing yet;
   * undefined: all of it.
   */
  readonly loaded: readonly (string | undefined)[] | 'nothing';
  /** As the hub last told them: what stands for other parts by now is loaded anew. Left out: they are taken to be the same. */
  readonly parts?: readonly SetPart[] | undefined;
}

/** `POST /sync/pull`: what changed since `cursor` in the sets, and the next page of those not all here; at one time. */
export interface Pull {
  readonly device: DeviceId;
  readonly epoch: Epoch;
  /** Undefined: the device does not know what it lacks; the answer begins anew at the head, and asks for a check. */
  readonly cursor: Micros | undefined;
  /** As it came with the latest answer that is stored here; undefined: none is. */
  readonly token?: string | undefined;
  /** Of the schema the device has. */
  readonly schema: string | undefined;
  /** In order of priority: pages come from the first that is not all here. */
  readonly sets: readonly PulledSet[];
  /** Documents to be sent, or said to be gone, whether they changed or not: `[collection, id]`. */
  readonly refetch: readonly DocumentName[];
  readonly settled: number;
  /** About this much is answered at most. */
  readonly maxBytes: number;
}

export type DocumentName = readonly [collection: number, id: string];

/** `[collection, id, stored text]`: the stored text of the current version, header line included (`src/codec/row.ts`), without times of entries. */
export type PulledDocument = readonly [collection: number, id: string, stored: string];

/** What a set comes down to: a range of documents. Numbers are the hub's, and the device's. */
export type SetPart =
  | { readonly kind: 'collection'; readonly collection: number }
  /** `prefix`: of its entries behind database and index, hexadecimal. */
  | { readonly kind: 'index'; readonly index: number; readonly prefix: string }
  | { readonly kind: 'document'; readonly collection: number; readonly id: string };

export interface SetAnswer {
  readonly id: string;
  /** Empty when `error` is there. */
  readonly parts: readonly SetPart[];
  /** As in `PulledSet`, after this answer. */
  readonly loaded: readonly (string | undefined)[];
  /** How many documents there are in all: told when loading begins, if it is the caller's to know. Undefined: nothing new. */
  readonly of: number | undefined;
  /** The caller may not read it, or it is gone: nothing of it belongs on the device. */
  readonly error: { readonly code: string; readonly description: string } | undefined;
}

export interface Pulled {
  readonly epoch: Epoch;
  /** The answer shows the sets as they were at this time, unless `more`. */
  readonly cursor: Micros;
  /** Another with each answer: says what was judged of this copy. Stored with what the answer brought, and sent with the next question. */
  readonly token?: string;
  /** The token of the question: a copy that has another one by now has no use for the answer. */
  readonly after?: string | undefined;
  /** The changes up to the head did not fit: keep these, ask again from `cursor`, and show none before the last has come. */
  readonly more: boolean;
  /** Writes of this device up to here are in what the answer shows. */
  readonly lastSeq: number;
  /** Verdicts above `settled`, up to `lastSeq`. */
  readonly verdicts: readonly Verdict[];
  readonly actor: Actor;
  /** When it differs from the device's: all of it, and what is not in it goes. */
  readonly schema:
    | { readonly version: string; readonly documents: readonly PulledDocument[] }
    | undefined;
  readonly puts: readonly PulledDocument[];
  /** Gone, out of the sets, or out of the caller's rights. */
  readonly leaves: readonly DocumentName[];
  readonly sets: readonly SetAnswer[];
  /**
   * Since the token rights changed in a way that the changes do not tell, or the log of changes does not reach back: the device is to compare
   * fingerprints. It is told once, and remembers it until it has done so.
   */
  readonly check: boolean;
}

export const FINGERPRINT_BUCKETS = 256;

/** `POST /sync/check`: which documents of a set differ. */
export interface Check {
  readonly device: DeviceId;
  readonly epoch: Epoch;
  readonly set: Pick<PulledSet, 'id' | 'query'>;
  /** For each bucket the sum, modulo 2^64, over its documents, 16 hexadecimal digits (`fingerprint.ts`). */
  readonly buckets: readonly string[];
}

export interface Checked {
  /** All documents of each bucket that differs, with their times. */
  readonly differing: readonly {
    readonly bucket: number;
    readonly documents: readonly (readonly [collection: number, id: string, ts: Micros])[];
  }[];
  /** More buckets differ than are told: to be asked again. */
  readonly more?: boolean;
}

/** Something in the sets of a device may have changed: told over its line, or by server-sent events. Only a hint; may be lost. */
export interface Poke {
  readonly head: Micros;
  /** What a pull would bring now, when it is little. */
  readonly brought?: Brought;
}

/** For a device that stands where the hub thinks it does: another one, or one whose sets are others by now, asks. */
export interface Brought {
  /** Its cursor. */
  readonly since: Micros;
  readonly pulled: Pulled;
}

/**
 * What a device says on its line, the WebSocket `/sync/line`, in one message: first whose it is, then pushes, each after the answer to the
 * one before. What is longer than `SYNC_LIMITS.lineBytes` goes as a request of its own.
 */
export type LineCall =
  | { readonly open: { readonly token: string; readonly device: DeviceId } }
  | { readonly n: number; readonly push: Push };

/** What the hub says on it: that it is open, answers by number, hints, and that it is there. After `refused` without a number it ends. */
export type LineReply =
  | { readonly opened: true }
  | { readonly n: number; readonly pushed: Pushed }
  | { readonly n?: number; readonly refused: SyncRefusal; readonly retryAfterSeconds?: number }
  | { readonly poke: Poke }
  | { readonly beat: true };

/**
 * Why an exchange was refused.
 * - `upgrade_needed`: the hub does not speak this protocol any more, or not yet.
 * - `client_forked`: this number was given to another write: the device was copied. It takes a new id.
 * - `client_regressed`: the device has forgotten writes that the hub knows of. It takes a new id.
 * - `gap`: writes before these are missing here.
 * - `epoch_changed`: the hub was restored: say hello.
 * - `device_taken`: the id belongs to somebody else.
 * - `needs_login`: the credential has expired; `locked`: it was withdrawn.
 */
export type SyncRefusalCode =
  | 'upgrade_needed'
  | 'client_forked'
  | 'client_regressed'
  | 'gap'
  | 'epoch_changed'
  | 'device_taken'
  | 'needs_login'
  | 'locked'
  | 'bad_message';

export interface SyncRefusal {
  readonly code: SyncRefusalCode;
  readonly description: string;
}
