import { remember } from '../../values/remember.ts';
import type { Verdict } from './writes.ts';

/** Number of verdicts kept although nothing waits for them yet. */
const EARLY_MAX = 1000;

interface Waiting {
  readonly settled: Promise<Verdict>;
  readonly settle: (verdict: Verdict | Promise<never>) => void;
}

/** Promises of verdicts: one for each write, even if several callers wait for it. */
export class Verdicts {
  readonly #waiting = new Map<string, Waiting>();
  /** Verdicts that arrived before the reply to their `submit()`: the two use different channels, and a nearby hub is quick. */
  readonly #early = new Map<string, Verdict>();

  /** Promises that wait for a verdict, by the id of the write. */
  get awaited(): ReadonlyMap<string, unknown> {
    return this.#waiting;
  }

  /** @param mayBeOld early verdicts on the write may be from before the hub was restored, and are not used */
  on(id: string, mayBeOld?: boolean): Promise<Verdict> {
    const early = !mayBeOld && this.#early.get(id);
    if (early) return Promise.resolve(early);
    const known = this.#waiting.get(id);
    if (known) return known.settled;
    let settle: Waiting['settle'] = () => undefined;
    const settled = new Promise<Verdict>((resolve) => (settle = resolve));
    // A rejection of a promise that no caller uses must not be reported as unhandled.
    settled.catch(() => undefined);
    this.#waiting.set(id, { settled, settle });
    return settled;
  }

  /** The write does not exist, or no longer: rejects its promise. */
  forget(id: string, reason: Error): void {
    this.#waiting.get(id)?.settle(Promise.reject(reason));
    this.#waiting.delete(id);
  }

  /** Resolves the promise of the write; if there is none, keeps the verdict for a later `on()`. */
  add(verdict: Verdict): void {
    const { id } = verdict;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting) waiting.settle(verdict);
    else remember(this.#early, id, verdict, EARLY_MAX);
  }

  /** No more verdicts will arrive: rejects all promises. */
  end(reason: Error): void {
    for (const { settle } of this.#waiting.values()) settle(Promise.reject(reason));
  }
}
