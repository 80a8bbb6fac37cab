/** The state of a copy: its hub, its identity and how far it has synced. Stored as one row. */
import type { Micros } from '../../../values/value.ts';
import type { DeviceId, Epoch } from '../../protocol/identifiers.ts';
import type { IdKey } from '../../protocol/device-ids.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Actor, Pulled } from '../../protocol/messages.ts';
import type { SetAnswer, SetPart } from '../../protocol/sets.ts';

export interface ReplicaState {
  /** URL of the hub. */
  readonly hub: string;
  readonly device: DeviceId;
  /** Number of device ids that this copy has had. Under each, writes are numbered from 1. */
  readonly era: number;
  /** New device ids in a short time: the time of the latest, by this device's clock, and how many. `left`: earlier epochs. */
  readonly idsTaken?:
    | { readonly at: Micros; readonly count: number; readonly left: readonly Epoch[] }
    | undefined;
  readonly epoch: Epoch;
  readonly cursor: Micros | undefined;
  /** Token of the latest answer that was stored. */
  readonly token: string | undefined;
  /** Number of the latest reason to compare fingerprints since the last comparison. Undefined: no comparison is due. */
  readonly suspectSince: number | undefined;
  /** Number of staged parts of a pull that is not complete yet, and the cursor from which to continue it. */
  readonly staged: { readonly cursor: Micros; readonly parts: number } | undefined;
  /** Version of the schema. Undefined until the first pull. */
  readonly schema: string | undefined;
  readonly actor: Actor;
  /** The key for ids of new documents. */
  readonly idKey: IdKey;
  /** In order of priority. */
  readonly sets: readonly KeptSet[];
  /** Parts of sets that are no longer kept. Their documents stay until the hub has resolved the new sets. */
  readonly givenUp?: readonly SetPart[] | undefined;
  /** Number of the latest write. */
  readonly lastSeq: number;
  /** The effects of writes up to this number are in the stored rows, or the writes were refused: none of them is shown from the outbox. */
  readonly shownSeq: number;
  /** Writes up to this number have their verdicts. */
  readonly settledSeq: number;
  /** The hub's clock minus this device's, µs. */
  readonly skew: Micros;
  /** `Now()` of the latest write. The next write has a later one. */
  readonly lastNow: Micros;
  /** Number of characters in writes without a verdict. */
  readonly outboxSize: number;
  /** The credential was revoked: no data is shown until a user logs in. */
  readonly isLocked: boolean;
  /** Fencing token: incremented by each syncer that takes over, so that a syncer that was frozen finds another number and stops. */
  readonly fence: number;
  /** Incremented when pending effects change, except when a write is added. Views are then rebuilt. */
  readonly generation: number;
}

/** A set that the copy keeps, and how much of it is loaded. */
export interface KeptSet {
  readonly id: string;
  /** Wire JSON text. */
  readonly query: string;
  /** As the hub resolved the set. Undefined until then. */
  readonly parts: readonly SetPart[] | undefined;
  readonly loaded: SetAnswer['loaded'] | 'nothing';
  /** Number of documents that its pages have brought. `of`: how many there will be. */
  readonly rows: number;
  readonly of: number | undefined;
  readonly error: SetAnswer['error'];
  /** A comparison is due. Until it has ended, it is unknown what is missing. */
  readonly isInDoubt?: boolean;
}

/** Counts one more reason to compare. A comparison that is running does not cover it. */
export const suspectOnceMore = ({ suspectSince = 0 }: Pick<ReplicaState, 'suspectSince'>): number =>
  suspectSince + 1;

/** Marks incomplete sets when a comparison is due: their documents may have come with another set, and be deleted by now. */
export const inDoubt = (sets: readonly KeptSet[], areAll = false): readonly KeptSet[] =>
  sets.map((set) => (areAll || !isLoaded(set) ? { ...set, isInDoubt: true } : set));

/** The cursor of the next pull. */
export const pulledUntil = ({ staged, cursor }: ReplicaState): Micros | undefined =>
  staged?.cursor ?? cursor;

/** Whether a pull answers a request that was made from this state. */
export const isAnswerTo = ({ after }: Pulled, { token }: ReplicaState): boolean => after === token;
