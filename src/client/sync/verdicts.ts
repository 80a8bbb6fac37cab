import { remember } from '../../values/remember.ts';
import type { Verdict } from './writes.ts';

/** Verdicts that nobody has waited for yet. */
const EARLY_MAX = 1000;

interface Waiting {
  readonly settled: Promise<Verdict>;
  readonly settle: (verdict: Verdict | Promise<never>) => void;
}

/** Promises of verdicts, one for each write, however often it is waited for. */
export class Verdicts {
  readonly #waiting = new Map<string, Waiting>();
  /** Those that came before the answer to their `submit()`: the two come by different ways, and a hub nearby is quick. */
  readonly #early = new Map<string, Verdict>();

  /** By the id of the write. */
  get awaited(): ReadonlyMap<string, unknown> {
    return this.#waiting;
  }

  on(id: string): Promise<Verdict> {
    const early = this.#early.get(id);
    if (early) return Promise.resolve(early);
    const known = this.#waiting.get(id);
    if (known) return known.settled;
    let settle: Waiting['settle'] = () => undefined;
    const settled = new Promise<Verdict>((resolve) => (settle = resolve));
    // Nobody need look at it.
    settled.catch(() => undefined);
    this.#waiting.set(id, { settled, settle });
    return settled;
  }

  /** There is no such write, or no more: rejects its promise. */
  forget(id: string, reason: Error): void {
    this.#waiting.get(id)?.settle(Promise.reject(reason));
    this.#waiting.delete(id);
  }

  /** Resolves the promise of its write; kept for a later `on()` if there is none. */
  add(verdict: Verdict): void {
    const { id } = verdict;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting) waiting.settle(verdict);
    else remember(this.#early, id, verdict, EARLY_MAX);
  }

  /** There will be none. */
  end(reason: Error): void {
    for (const { settle } of this.#waiting.values()) settle(Promise.reject(reason));
  }
}
