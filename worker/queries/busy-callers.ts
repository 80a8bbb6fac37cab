/**
 * Queries of a few milliseconds never take a turn, however many there are. So a caller who was evaluated here for long lately begins one
 * query in each turn of the event loop: those of others, which come meanwhile, go first. Callers are distinguished by their secrets.
 */
import { remember } from '../../src/values/remember.ts';
import { pause } from '../browser/pause.ts';

interface Caller {
  /** Evaluated here lately: what was a second ago counts for a third. */
  ms: number;
  at: number;
  /** Turns of its queries that are not over yet, and the end of the last of them. */
  turns: number;
  last: Promise<void>;
}

const SHARE_MS = 50;
const FADES_MICROS = 1_000_000;
/** No page has so many clients at a time: the first are forgotten. */
const CALLERS_MAX = 100;

export class BusyCallers {
  private readonly clock: () => number;
  private readonly callers = new Map<string, Caller>();

  /** @param clock µs */
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

  /** Undefined: a query of the caller may begin now. Whoever waits for each answer never waits for a turn. */
  whenFree(secret = ''): Promise<void> | undefined {
    const caller = this.callers.get(secret);
    if (!caller || (caller.turns === 0 && faded(caller, this.clock()) < SHARE_MS)) return undefined;
    const before = caller.turns > 0 ? caller.last : undefined;
    caller.turns += 1;
    caller.last = caller.last.then(pause);
    void caller.last.then(() => (caller.turns -= 1));
    return before;
  }

  /** The caller is busy, and was not alone in the last second. */
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
