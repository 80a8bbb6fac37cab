/**
 * Evaluates parts of a query that do not depend on each other. The needs of all parts are collected before the query
 * waits, and the faults of all parts before it fails. Once a read is missing, evaluation continues only to find more
 * needs, and faults are ignored. See docs/decisions/0001-run-again.md.
 */
import { QueryFailure, type Fault } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { rangeName, rowName } from '../store/snapshot-cache.ts';
import { Suspended, type Need } from '../store/reader.ts';
import { TurnOver } from './turn-over.ts';

/** Thrown where a missing value is used. Its need was reported when the value was found to be missing. */
export const WAITING = new Suspended([]);

/** After this many successive parts without a new need, the remaining parts are not evaluated. */
const IDLE_PARTS_MAX = 16;

/** Collects the needs of the parts of one form, without duplicates, or their faults. */
export class NeedCollector {
  private readonly faults: Fault[] = [];
  private readonly needs: Need[] = [];
  private readonly names = new Set<string>();
  private waits = false;
  private idleParts = 0;

  /**
   * Adds what a part threw. Rethrows anything that is neither a need nor a fault: `TurnOver` always, other errors
   * unless a need is waiting.
   */
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

  /** Whether looking ahead is not worthwhile any more: later parts wait for the same needs. */
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

/** A name for a need of the store, to find duplicates. Undefined for other needs. */
function nameOf(need: Need): string | undefined {
  if (need.kind === 'row') return `r${rowName(need.address.space, need.address.key)}`;
  return need.kind === 'range' ? `R${rangeName(need.range)}` : undefined;
}

/**
 * For parts of which only the first fault is reported. Returns a collector if `thrown` is a need, and rethrows anything
 * else.
 */
export function waitFor(thrown: unknown): NeedCollector {
  if (!(thrown instanceof Suspended)) throw thrown;
  const collector = new NeedCollector();
  collector.add(thrown);
  return collector;
}

/**
 * Applies `body` to the elements in order. The first fault ends it. When an element has a need, some of the following
 * elements are evaluated too, so that n elements take one round trip rather than n, as they would with `map`. Use it
 * wherever `body` can read. See README.md.
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
    // Producing the elements themselves may need a read.
    collector = collected(collector, thrown);
  }
  return collector ? collector.end() : results;
}

function collected(collector: NeedCollector | undefined, thrown: unknown): NeedCollector {
  if (!collector) return waitFor(thrown);
  collector.add(thrown);
  return collector;
}
