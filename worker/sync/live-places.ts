/** Where live queries of a copy are answered: by the copy, by the copy if it holds all of it, or by the hub while it can be reached. */
import { Refusal } from '../../src/errors.ts';
import type { LivePlace } from '../../src/host/query.ts';
import { refused, type LiveAnswer, type LiveQueries } from '../queries/live-queries.ts';
import { ONLY_OF_SYNC, requireComplete } from './answer-place.ts';
import { HubLiveQueries } from './hub-live-queries.ts';
import type { SyncSession } from './session.ts';

export interface LivePlacesOptions {
  readonly sync: Pick<SyncSession, 'secret' | 'isInContact' | 'openLive'>;
  /** Of the copy; it calls `onAnswer()`. */
  readonly here: Pick<LiveQueries, 'add' | 'remove'>;
  readonly tell: (id: number, answer: LiveAnswer) => void;
}

interface Placed {
  readonly query: string;
  readonly at: LivePlace;
  /** What the copy has answered last. */
  ofCopy: LiveAnswer | undefined;
  /** What was told last is the hub's. */
  isHubs: boolean;
}

export class LivePlaces {
  private readonly options: LivePlacesOptions;
  private readonly placed = new Map<number, Placed>();
  private readonly atHub: HubLiveQueries;
  private wasInContact = false;

  constructor(options: LivePlacesOptions) {
    this.options = options;
    this.atHub = new HubLiveQueries({
      open: (_secret, body, signal) => options.sync.openLive(body, signal),
    });
  }

  add(id: number, secret: string, query: string, at: LivePlace | undefined): void {
    const { here, sync, tell } = this.options;
    if (at !== undefined) {
      const wrong = secret !== sync.secret ? ONLY_OF_SYNC : PLACES.has(at) ? undefined : NO_PLACE;
      if (wrong !== undefined) {
        tell(id, refused(new Refusal('bad request', wrong)));
        return;
      }
      const placed: Placed = { query, at, ofCopy: undefined, isHubs: false };
      this.placed.set(id, placed);
      if (this.wasInContact) this.askHub(id, placed);
    }
    here.add(id, secret, query);
  }

  remove(id: number): void {
    this.options.here.remove(id);
    if (this.placed.delete(id)) this.atHub.unsubscribe(id);
  }

  /** The copy has answered. */
  onAnswer(id: number, answer: LiveAnswer): void {
    const placed = this.placed.get(id);
    if (placed) placed.ofCopy = answer;
    if (!placed?.isHubs) this.tellOfCopy(id, placed?.at, answer);
  }

  /** The hub can be reached now, or not any more. */
  onContact(): void {
    const { isInContact } = this.options.sync;
    if (isInContact === this.wasInContact) return;
    this.wasInContact = isInContact;
    for (const [id, placed] of this.placed)
      if (isInContact) this.askHub(id, placed);
      else {
        this.atHub.unsubscribe(id);
        this.fallBack(id, placed);
      }
  }

  close(): void {
    this.placed.clear();
    this.atHub.close();
  }

  private askHub(id: number, placed: Placed): void {
    if (placed.at !== 'hub-or-copy') return;
    this.atHub.subscribe(id, '', placed.query, (_, answer) => {
      if (this.placed.get(id) !== placed) return;
      placed.isHubs = !isOutOfReach(answer);
      if (placed.isHubs) this.options.tell(id, { ...answer, isHubs: true });
      else this.fallBack(id, placed);
    });
  }

  private fallBack(id: number, placed: Placed): void {
    placed.isHubs = false;
    if (placed.ofCopy) this.tellOfCopy(id, placed.at, placed.ofCopy);
  }

  private tellOfCopy(id: number, at: LivePlace | undefined, answer: LiveAnswer): void {
    this.options.tell(id, at === 'complete' ? completeOrRefused(answer) : answer);
  }
}

const PLACES: ReadonlySet<string> = new Set<LivePlace>(['complete', 'hub-or-copy']);
const NO_PLACE = "The option `at` of a live query is 'complete' or 'hub-or-copy'.";

function completeOrRefused(answer: LiveAnswer): LiveAnswer {
  try {
    return requireComplete(answer);
  } catch (reason) {
    return refused(reason);
  }
}

/** It has too much to do, fails, or does not know the token: the copy answers meanwhile. */
const isOutOfReach = ({ status }: LiveAnswer): boolean =>
  status === 401 || status === 429 || status >= 500;
