/**
 * Decides where live queries of a copy are answered: by the copy, by the copy only if it holds all data, or by the hub while it can be
 * reached.
 */
import { Refusal } from '../../src/errors.ts';
import type { LivePlace } from '../../src/host/query.ts';
import { refused, type LiveAnswer, type LiveQueries } from '../queries/live-queries.ts';
import { isOutOfReach, ONLY_OF_SYNC, requireComplete } from './route-query.ts';
import { HubLiveQueries } from './hub-live-queries.ts';
import type { SyncSession } from './session.ts';

export interface LiveRouterOptions {
  readonly sync: Pick<SyncSession, 'secret' | 'isInContact' | 'openLive'>;
  /** The live queries of the copy. Their answers are passed to `onAnswer()`. */
  readonly local: Pick<LiveQueries, 'add' | 'remove'>;
  readonly emit: (id: number, answer: LiveAnswer) => void;
}

interface RoutedQuery {
  readonly query: string;
  readonly at: LivePlace;
  /** The copy's last answer. */
  ofCopy: LiveAnswer | undefined;
  /** The last emitted answer came from the hub. */
  isFromHub: boolean;
}

export class LiveRouter {
  private readonly options: LiveRouterOptions;
  private readonly routed = new Map<number, RoutedQuery>();
  private readonly atHub: HubLiveQueries;
  private wasInContact = false;

  constructor(options: LiveRouterOptions) {
    this.options = options;
    this.atHub = new HubLiveQueries({
      open: (_secret, body, signal) => options.sync.openLive(body, signal),
    });
  }

  add(id: number, secret: string, query: string, at: LivePlace | undefined): void {
    const { local, sync, emit } = this.options;
    if (at !== undefined) {
      const wrong = secret === sync.secret ? wrongLivePlace(at) : ONLY_OF_SYNC;
      if (wrong !== undefined) {
        emit(id, refused(new Refusal('bad request', wrong)));
        return;
      }
      const routed: RoutedQuery = { query, at, ofCopy: undefined, isFromHub: false };
      this.routed.set(id, routed);
      if (this.wasInContact) this.askHub(id, routed);
    }
    local.add(id, secret, query);
  }

  remove(id: number): void {
    this.options.local.remove(id);
    if (this.routed.delete(id)) this.atHub.unsubscribe(id);
  }

  /** Called with each answer of the copy. */
  onAnswer(id: number, answer: LiveAnswer): void {
    const routed = this.routed.get(id);
    if (routed) routed.ofCopy = answer;
    if (!routed?.isFromHub) this.emitFromCopy(id, routed?.at, answer);
  }

  /** Called when the hub may have become reachable or unreachable. */
  onContact(): void {
    const { isInContact } = this.options.sync;
    if (isInContact === this.wasInContact) return;
    this.wasInContact = isInContact;
    for (const [id, routed] of this.routed)
      if (isInContact) this.askHub(id, routed);
      else {
        this.atHub.unsubscribe(id);
        this.fallBack(id, routed);
      }
  }

  close(): void {
    this.routed.clear();
    this.atHub.close();
  }

  private askHub(id: number, routed: RoutedQuery): void {
    if (routed.at !== 'hub-or-copy') return;
    this.atHub.subscribe(id, '', routed.query, (_, answer) => {
      if (this.routed.get(id) !== routed) return;
      routed.isFromHub = !isOutOfReach(answer);
      if (routed.isFromHub) this.options.emit(id, { ...answer, isFromHub: true });
      else this.fallBack(id, routed);
    });
  }

  private fallBack(id: number, routed: RoutedQuery): void {
    routed.isFromHub = false;
    if (routed.ofCopy) this.emitFromCopy(id, routed.at, routed.ofCopy);
  }

  private emitFromCopy(id: number, at: LivePlace | undefined, answer: LiveAnswer): void {
    this.options.emit(id, at === 'complete' ? completeOrRefused(answer) : answer);
  }
}

const PLACES: ReadonlySet<string> = new Set<LivePlace>(['complete', 'hub-or-copy']);

/** An error message. Undefined when the option is valid. */
export const wrongLivePlace = (at: LivePlace): string | undefined =>
  PLACES.has(at) ? undefined : "The option `at` of a live query is 'complete' or 'hub-or-copy'.";

function completeOrRefused(answer: LiveAnswer): LiveAnswer {
  try {
    return requireComplete(answer);
  } catch (reason) {
    return refused(reason);
  }
}
