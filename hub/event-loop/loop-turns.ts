/**
 * In one turn of the event loop, queries are begun for a short time only, and likewise requests: the others wait for the next, so that
 * whatever else there is has its turn too. Among those that wait, the databases take turns and in each its credentials, or the addresses.
 * While some wait, a database that had its last turn before theirs need not, nor a credential that had it before the others of its
 * database: whatever comes so has a share of its own in each turn.
 */
import type { Line } from '../../src/engine/host.ts';
import { FairQueue } from './fair-queue.ts';

interface Waiting {
  readonly name: string;
  readonly begin: () => void;
  readonly isGone: () => boolean;
}

/** What may be begun of a share in one turn. */
export interface ShareLimits {
  /** The last one begun may take longer (`EvaluatorPool.turnMs`). */
  readonly ms: number;
  readonly count: number;
}

export interface TurnLimits {
  readonly alone: ShareLimits;
  /** While there are others. Short turns are more turns: who is alone need not pay for them. */
  readonly besideOthers: ShareLimits;
}

const OF_QUERIES: TurnLimits = {
  alone: { ms: 10, count: Infinity },
  besideOthers: { ms: 3, count: Infinity },
};
/** So few, because a database has as many credentials as it likes. */
const NEW_LINES_MAX = 2;
/** For so long after it came last, a name is there. */
const THERE_MS = 1000;

export class LoopTurns {
  private readonly clock: () => number;
  private readonly waiting = new FairQueue<Waiting>();
  private readonly ofWaiting: Share;
  private readonly ofNewGroups: Share;
  private readonly ofNewLines: Share;
  /** Begun in this turn of the event loop and noted after it: what comes with them is new as well. */
  private readonly begunNew: Line[] = [];
  private lastName: string | undefined = undefined;
  private isAloneFromMs = -Infinity;

  /** @param clock ms */
  constructor(limits = OF_QUERIES, clock: () => number = () => performance.now()) {
    this.clock = clock;
    const limitsAt = (nowMs: number): ShareLimits =>
      nowMs < this.isAloneFromMs ? limits.besideOthers : limits.alone;
    this.ofWaiting = new Share(limitsAt, clock);
    this.ofNewGroups = new Share(limitsAt, clock);
    this.ofNewLines = new Share((nowMs) => ({ ...limitsAt(nowMs), count: NEW_LINES_MAX }), clock);
  }

  /**
   * Undefined: it may begin now.
   * @param name of the credential, or of the address
   * @param group of such, that have one share together
   * @param isGone nobody wants it any more: it is begun beside the next, for nothing
   */
  enter(name: string, group = name, isGone = never): Promise<void> | undefined {
    if (name !== this.lastName) this.recordChange(name);
    if (this.mayBegin({ name, group })) return undefined;
    return new Promise((resolve) => {
      this.waiting.add(name, { name, begin: resolve, isGone }, group);
      setImmediate(this.admitOne);
    });
  }

  /** Calls `begin` when it may begin: now, or in a later turn; never, if nobody wants it any more by then. */
  begin(name: string, begin: () => void, isGone: () => boolean): void {
    const beginUnlessGone = (): void => {
      if (!isGone()) begin();
    };
    const free = this.enter(name, name, isGone);
    if (free) void free.then(beginUnlessGone);
    else beginUnlessGone();
  }

  private recordChange(name: string): void {
    if (this.lastName !== undefined) this.isAloneFromMs = this.clock() + THERE_MS;
    this.lastName = name;
  }

  private mayBegin(line: Line): boolean {
    const { waiting, ofWaiting } = this;
    if (waiting.isEmpty) {
      const mayBegin = ofWaiting.take();
      if (mayBegin) waiting.recordTurn(line.name, line.group);
      return mayBegin;
    }
    const mayBegin = this.shareOfNew(line)?.take() ?? false;
    if (mayBegin) this.begunNew.push(line);
    return mayBegin;
  }

  private shareOfNew({ name, group }: Line): Share | undefined {
    const { waiting } = this;
    if (waiting.isNextGroup(group)) return this.ofNewGroups;
    return waiting.isNextInGroup(name, group) ? this.ofNewLines : undefined;
  }

  /** What is admitted begins before the next of these is called. */
  private readonly admitOne = (): void => {
    for (const { name, group } of this.begunNew.splice(0)) this.waiting.recordTurn(name, group);
    if (this.waiting.isEmpty) return;
    if (!this.ofWaiting.take()) {
      setImmediate(this.admitOne);
      return;
    }
    for (let next = this.waiting.take(1); next; next = this.waiting.take(1)) {
      this.waiting.end(next.name);
      next.begin();
      if (!next.isGone()) return;
    }
  };
}

const never = (): boolean => false;

/** Of a turn of the event loop: from its first use on, until it is spent. */
class Share {
  private readonly limitsAt: (nowMs: number) => ShareLimits;
  private readonly clock: () => number;
  private until: number | undefined = undefined;
  private left = 0;

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
  };
}
