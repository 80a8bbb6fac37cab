/**
 * Parts of a query that do not depend on each other: all their needs are collected before the query waits, all their faults before it
 * fails. Once an execution has a missing read, it goes on only to find more of them: faults are ignored. See docs/decisions/0001-run-again.md.
 */
import { QueryFailure, type Fault } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { rangeName, rowName } from '../store/snapshot-cache.ts';
import { Suspended, type Need } from '../store/reader.ts';
import { TurnOver } from './turn-over.ts';

/** Thrown where a missing value is used: its need was thrown where it was found to be missing. */
export const WAITING = new Suspended([]);

/** After so many parts in a row without a new need, the parts after them are not evaluated. */
const IDLE_PARTS_MAX = 16;

/** What the parts of one form need, each thing once, or else their faults. */
export class NeedCollector {
  private readonly faults: Fault[] = [];
  private readonly needs: Need[] = [];
  private readonly names = new Set<string>();
  private waits = false;
  private idleParts = 0;

  /** Takes in what a part threw; throws on what is neither a need nor a fault: at the end of a turn, also while it waits. */
  add(thrown: unknown): void {
    if (thrown instanceof Suspended) {
      this.waits = true;
      const before = this.needs.length;
      for (const need of thrown.needs) this.note(need);
      this.idleParts = this.needs.length > before ? 0 : this.idleParts + 1;
    } else if (thrown instanceof QueryFailure) {
      for (const fault of thrown.faults) this.faults.push(fault);
    } else if (!this.waits || thrown instanceof TurnOver) {
      throw thrown;
    }
  }

  get isWaiting(): boolean {
    return this.waits;
  }

  get isFull(): boolean {
    return this.needs.length >= LIMITS.prefetchNeeds || this.faults.length >= LIMITS.faults;
  }

  /** Not worth looking further ahead: what is needed so far must come first. */
  get isIdle(): boolean {
    return this.idleParts >= IDLE_PARTS_MAX;
  }

  end(): never {
    throw this.waits ? new Suspended(this.needs) : new QueryFailure(this.faults);
  }

  private note(need: Need): void {
    const name = nameOf(need);
    if (name !== undefined && this.names.has(name)) return;
    if (name !== undefined) this.names.add(name);
    this.needs.push(need);
  }
}

/** Undefined: not of the store. */
function nameOf(need: Need): string | undefined {
  if (need.kind === 'row') return `r${rowName(need.address.space, need.address.key)}`;
  return need.kind === 'range' ? `R${rangeName(need.range)}` : undefined;
}

/** For parts of which the first fault is the only one: goes on only when `thrown` is a need. */
export function waitFor(thrown: unknown): NeedCollector {
  if (!(thrown instanceof Suspended)) throw thrown;
  const collector = new NeedCollector();
  collector.add(thrown);
  return collector;
}

/**
 * Results of `body` in order. The first fault ends it; needs are collected from some elements beyond the first that waits, so that n
 * elements take one round trip and not n, as with `map`. Use it wherever `body` can read. See README.md.
 */
export function eachElement<T, R>(
  elements: Iterable<T>,
  body: (element: T, index: number) => R,
): R[] {
  const results: R[] = [];
  let collector: NeedCollector | undefined;
  let index = 0;
  let last = Number.POSITIVE_INFINITY;
  try {
    for (const element of elements) {
      try {
        results.push(body(element, index));
      } catch (thrown) {
        if (!collector) last = index + LIMITS.prefetchElements;
        collector = collected(collector, thrown);
      }
      index += 1;
      if (collector && (index > last || collector.isFull || collector.isIdle)) break;
    }
  } catch (thrown) {
    // The elements themselves may have to be waited for.
    collector = collected(collector, thrown);
  }
  return collector ? collector.end() : results;
}

function collected(collector: NeedCollector | undefined, thrown: unknown): NeedCollector {
  if (!collector) return waitFor(thrown);
  collector.add(thrown);
  return collector;
}
