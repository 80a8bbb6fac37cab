/** The state of a copy: of which hub and identity it is, and how far it has come. Stored as one row. */
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
  /** How many device ids this copy has had: with each, writes are numbered from 1. */
  readonly era: number;
  /** Ids that followed one another in a short time: the time of the latest, by this device's clock, and how many; and epochs it has left. */
  readonly idsTaken?:
    | { readonly at: Micros; readonly count: number; readonly left: readonly Epoch[] }
    | undefined;
  readonly epoch: Epoch | undefined;
  readonly cursor: Micros | undefined;
  /** Came with the latest answer that is stored. */
  readonly token: string | undefined;
  /** Number of the latest reason to compare fingerprints since the last comparison; undefined: no comparison is due. */
  readonly suspectSince: number | undefined;
  /** Parts of a pull that wait for the last one, and the cursor to continue from. */
  readonly staged: { readonly cursor: Micros; readonly parts: number } | undefined;
  /** Version of the schema. */
  readonly schema: string | undefined;
  readonly actor: Actor | undefined;
  /** For ids of documents. Undefined until the hub has told: copies of earlier versions have none. */
  readonly idKey: IdKey | undefined;
  /** In order of priority. */
  readonly sets: readonly KeptSet[];
  /** What sets held that are kept no more, until the hub has said what the new ones hold. */
  readonly givenUp?: readonly SetPart[] | undefined;
  /** Number of the latest write. */
  readonly lastSeq: number;
  /** Writes up to here are in the stored rows, or refused: none of them is shown from the outbox. */
  readonly shownSeq: number;
  /** Verdicts up to here are kept. */
  readonly settledSeq: number;
  /** The hub's clock minus this device's, µs. */
  readonly skew: Micros;
  /** `Now()` of the latest write: that of the next is later. */
  readonly lastNow: Micros;
  /** Characters in writes without a verdict. */
  readonly outboxSize: number;
  /** The credential was revoked: nothing is shown until somebody logs in. */
  readonly isLocked: boolean;
  /** Fencing token: raised by each syncer that takes over, so a frozen one finds another number here and stops. */
  readonly fence: number;
  /** Raised when pending effects change otherwise than by one more write: views are rebuilt. */
  readonly generation: number;
}

/** A set that the copy keeps, and how much of it is loaded. */
export interface KeptSet {
  readonly id: string;
  /** Wire JSON text. */
  readonly query: string;
  /** As the hub resolved it; undefined before it has. */
  readonly parts: readonly SetPart[] | undefined;
  readonly loaded: SetAnswer['loaded'] | 'nothing';
  /** Documents that came with its pages, and how many there will be. */
  readonly rows: number;
  readonly of: number | undefined;
  readonly error: SetAnswer['error'];
  /** What it lacks is unknown until the comparison that is due has ended. */
  readonly isInDoubt?: boolean;
}

/** One more reason to compare: a comparison that is under way does not count for it. */
export const suspectOnceMore = ({ suspectSince = 0 }: Pick<ReplicaState, 'suspectSince'>): number =>
  suspectSince + 1;

/** While a comparison is due: documents of a set that is being loaded may have come with another set, and be gone by now. */
export const inDoubt = (sets: readonly KeptSet[], areAll = false): readonly KeptSet[] =>
  sets.map((set) => (areAll || !isLoaded(set) ? { ...set, isInDoubt: true } : set));

/** The next pull asks for changes after this. */
export const pulledUntil = ({ staged, cursor }: ReplicaState): Micros | undefined =>
  staged?.cursor ?? cursor;

/** Whether a pull answers a request that was made from this state. */
export const isAnswerTo = ({ after }: Pulled, { token }: ReplicaState): boolean => after === token;
