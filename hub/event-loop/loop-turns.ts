/**
 * Limits for how long queries, or requests, are begun in one turn of the event loop. The others wait for the next turn, so that
 * all other work of the process has its turn too. Among those that wait, databases take turns, and credentials within each
 * database; callers whose database is not known take turns by address.
 * Some need not wait even while others do: a database whose last turn was before those of all waiting databases, and a credential
 * whose last turn was before those of the other credentials of its database. Each turn has separate shares for these.
 */
import type { Line } from '../../src/engine/host.ts';
import { FairQueue } from './fair-queue.ts';

interface Waiting {
  readonly name: string;
  readonly begin: () => void;
  readonly isGone: () => boolean;
}

/** What may be begun from one share in one turn. */
export interface ShareLimits {
  /** Only the first query of a turn may take longer than this (`EvaluatorPool.turnMs`). */
  readonly ms: number;
  readonly count: number;
}

export interface TurnLimits {
  readonly alone: ShareLimits;
  /** The limits while several callers are active. Short turns mean more turns, a cost that a single caller need not pay. */
  readonly besideOthers: ShareLimits;
}

const OF_QUERIES: TurnLimits = {
  alone: { ms: 10, count: Infinity },
  besideOthers: { ms: 3, count: Infinity },
};
/** Small, because a database can have any number of credentials. */
const NEW_LINES_MAX = 2;
/** A caller counts as active for this long after its last query. */
const THERE_MS = 1000;

export class LoopTurns {
  private readonly clock: () => number;
  private readonly waiting = new FairQueue<Waiting>();
  private readonly ofWaiting: Share;
  private readonly ofNewGroups: Share;
  private readonly ofNewLines: Share;
  /**
   * Lines that began as newcomers in this turn. Their turns are recorded after it, so that more of their queries in the same turn
   * are newcomers too.
   */
  private readonly begunNew: Line[] = [];
  private lastName: string | undefined = undefined;
  private isAloneFromMs = -Infinity;

  /** @param clock current time in ms */
  constructor(limits = OF_QUERIES, clock: () => number = () => performance.now()) {
    this.clock = clock;
    const limitsAt = (nowMs: number): ShareLimits =>
      nowMs < this.isAloneFromMs ? limits.besideOthers : limits.alone;
    this.ofWaiting = new Share(limitsAt, clock);
    this.ofNewGroups = new Share(limitsAt, clock);
    this.ofNewLines = new Share((nowMs) => ({ ...limitsAt(nowMs), count: NEW_LINES_MAX }), clock);
  }

  /**
   * Asks to begin in this turn of the event loop.
   * @param name the credential, or the address
   * @param group the database, or other group of names; groups take turns
   * @param isGone whether nobody waits for the result any more; such an entry is admitted together with the next one, because it
   * costs nothing
   * @returns undefined if the caller may begin now; otherwise a promise that resolves when it may
   */
  enter(name: string, group = name, isGone = never): Promise<void> | undefined {
    if (name !== this.lastName) this.recordChange(name);
    if (this.mayBegin({ name, group })) return undefined;
    return new Promise((resolve) => {
      this.waiting.add(name, { name, begin: resolve, isGone }, group);
      setImmediate(this.admitOne);
    });
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

  /** Admits one waiting caller per call. What it begins runs before the next `setImmediate` callback. */
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

/**
 * A limited share of one turn of the event loop: lasts from its first use in the turn until its count is spent, or its time would be
 * if the next query took as long as the ones before it in this turn.
 */
class Share {
  private readonly limitsAt: (nowMs: number) => ShareLimits;
  private readonly clock: () => number;
  private turn: (ShareLimits & { readonly beganMs: number; begun: number }) | undefined = undefined;

  constructor(limitsAt: (nowMs: number) => ShareLimits, clock: () => number) {
    this.limitsAt = limitsAt;
    this.clock = clock;
  }

  take(): boolean {
    const nowMs = this.clock();
    const turn = (this.turn ??= this.beginTurn(nowMs));
    const usedMs = nowMs - turn.beganMs;
    const expectedMs = turn.begun > 0 ? usedMs / turn.begun : 0;
    if (turn.begun >= turn.count || usedMs + expectedMs > turn.ms) return false;
    turn.begun += 1;
    return true;
  }

  private beginTurn(nowMs: number) {
    setImmediate(() => (this.turn = undefined));
    return { ...this.limitsAt(nowMs), beganMs: nowMs, begun: 0 };
  }
}
