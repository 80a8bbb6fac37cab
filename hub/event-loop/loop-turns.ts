/**
 * In one turn of the event loop, queries are begun for a short time only, and likewise requests: the others wait for the next, so that
 * whatever else there is has its turn too. Among those that wait, the databases take turns and in each its credentials, or the addresses.
 * While some wait, a database that had its last turn before theirs need not: whatever comes so has a share of its own in each turn.
 */
import { FairQueue } from './fair-queue.ts';

interface Waiting {
  readonly name: string;
  readonly begin: () => void;
}

/** What may be begun of a share in one turn. */
export interface ShareLimits {
  /** The last one begun may take longer (`EvaluatorPool.turnMs`). */
  readonly ms: number;
  readonly count: number;
}

export interface TurnLimits {
  readonly alone: ShareLimits;
  /** While there are other groups. Short turns are more turns: who is alone need not pay for them. */
  readonly besideOthers: ShareLimits;
}

const OF_QUERIES: TurnLimits = {
  alone: { ms: 10, count: Infinity },
  besideOthers: { ms: 3, count: Infinity },
};
/** For so long after it came last, a group is there. */
const THERE_MS = 1000;

export class LoopTurns {
  private readonly clock: () => number;
  private readonly waiting = new FairQueue<Waiting>();
  private readonly ofWaiting: Share;
  private readonly ofNew: Share;
  private newIn = { turn: 0, groups: new Set<string>() };
  private lastGroup: string | undefined = undefined;
  private isAloneFromMs = -Infinity;

  /** @param clock ms */
  constructor(limits = OF_QUERIES, clock: () => number = () => performance.now()) {
    this.clock = clock;
    const limitsAt = (nowMs: number): ShareLimits =>
      nowMs < this.isAloneFromMs ? limits.besideOthers : limits.alone;
    this.ofWaiting = new Share(limitsAt, clock);
    this.ofNew = new Share(limitsAt, clock);
  }

  /** Undefined: it may begin now. @param name of the credential, or of the address @param group of such, that have one share together */
  enter(name: string, group = name): Promise<void> | undefined {
    if (group !== this.lastGroup) this.noteChange(group);
    if (this.mayBegin(group)) return undefined;
    return new Promise((resolve) => {
      this.waiting.add(name, { name, begin: resolve }, group);
      setImmediate(this.admitOne);
    });
  }

  private noteChange(group: string): void {
    if (this.lastGroup !== undefined) this.isAloneFromMs = this.clock() + THERE_MS;
    this.lastGroup = group;
  }

  private mayBegin(group: string): boolean {
    const { waiting, ofWaiting, ofNew } = this;
    const mayBegin = waiting.isEmpty ? ofWaiting.take() : this.isNew(group) && ofNew.take();
    if (mayBegin) waiting.noteTurn(group);
    return mayBegin;
  }

  /** What comes with it, in the same turn of the event loop, is new as well. */
  private isNew(group: string): boolean {
    const { ofNew, newIn } = this;
    if (newIn.turn !== ofNew.turn) this.newIn = { turn: ofNew.turn, groups: new Set() };
    const { groups } = this.newIn;
    if (this.waiting.isBeforeAll(group)) groups.add(group);
    return groups.has(group);
  }

  /** What is admitted begins before the next of these is called. */
  private readonly admitOne = (): void => {
    if (!this.ofWaiting.take()) {
      setImmediate(this.admitOne);
      return;
    }
    const next = this.waiting.take(1);
    if (!next) return;
    this.waiting.end(next.name);
    next.begin();
  };
}

/** Of a turn of the event loop: from its first use on, until it is spent. */
class Share {
  private readonly limitsAt: (nowMs: number) => ShareLimits;
  private readonly clock: () => number;
  private until: number | undefined = undefined;
  private left = 0;
  /** How many have ended. */
  turn = 0;

  constructor(limitsAt: (nowMs: number) => ShareLimits, clock: () => number) {
    this.limitsAt = limitsAt;
    this.clock = clock;
  }

  take(): boolean {
    const nowMs = this.clock();
    if (this.until === undefined) {
      const { ms, count } = this.limitsAt(nowMs);
      this.until = nowMs + ms;
      this.left = count;
      setImmediate(this.endTurn);
    } else if (nowMs >= this.until || this.left === 0) return false;
    this.left -= 1;
    return true;
  }

  private readonly endTurn = (): void => {
    this.until = undefined;
    this.turn += 1;
  };
}
