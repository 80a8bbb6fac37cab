/**
 * A query of a few milliseconds never exceeds its time slice, however many such queries there are. So a caller that recently used much
 * evaluation time starts only one query per turn of the event loop, and queries of others that arrive in the meantime run first. Callers
 * are distinguished by their secrets.
 */
import { remember } from '../../src/values/remember.ts';
import { pause } from '../browser/pause.ts';

interface Caller {
  /** Recent evaluation time in ms, with exponential decay: time used a second ago counts for a third. */
  ms: number;
  at: number;
  /** Number of turns of the event loop that are taken by its queries and not over yet. `last` resolves at the end of the last of them. */
  turns: number;
  last: Promise<void>;
}

const SHARE_MS = 50;
const FADES_MICROS = 1_000_000;
/** More clients than a page ever uses at a time. Beyond this, the oldest callers are forgotten. */
const CALLERS_MAX = 100;

export class BusyCallers {
  private readonly clock: () => number;
  private readonly callers = new Map<string, Caller>();

  /** @param clock the time in µs */
  constructor(clock: () => number) {
    this.clock = clock;
  }

  note(secret = '', ms: number): void {
    const caller = this.callers.get(secret);
    const at = this.clock();
    if (caller) {
      caller.ms = faded(caller, at) + ms;
      caller.at = at;
      return;
    }
    const one = { ms, at, turns: 0, last: Promise.resolve() };
    remember(this.callers, secret, one, CALLERS_MAX);
  }

  /** Undefined when a query of the caller may begin now. A caller that awaits each answer before its next query never waits. */
  whenFree(secret = ''): Promise<void> | undefined {
    const caller = this.callers.get(secret);
    if (!caller || (caller.turns === 0 && faded(caller, this.clock()) < SHARE_MS)) return undefined;
    const before = caller.turns > 0 ? caller.last : undefined;
    caller.turns += 1;
    caller.last = caller.last.then(pause);
    void caller.last.then(() => (caller.turns -= 1));
    return before;
  }

  /** Whether the caller is busy, and another caller was active in the last second. */
  holdsUpOthers(secret = ''): boolean {
    const now = this.clock();
    const caller = this.callers.get(secret);
    if (!caller || faded(caller, now) < SHARE_MS) return false;
    return [...this.callers.values()].some(
      (other) => other !== caller && now - other.at < FADES_MICROS,
    );
  }
}

const faded = ({ ms, at }: Caller, now: number): number => ms * Math.exp((at - now) / FADES_MICROS);
