import { remember } from '../../values/remember.ts';
import type { Verdict } from './writes.ts';

/** Verdicts that nobody has waited for yet. */
const EARLY_MAX = 1000;

/** Who waits for the verdict on which write. */
export class Verdicts {
  readonly #waiting = new Map<string, (verdict: Verdict | Promise<never>) => void>();
  /** Those that came before the answer to their `submit()`: the two come by different ways, and a hub nearby is quick. */
  readonly #early = new Map<string, Verdict>();

  /** By the id of the write. */
  get awaited(): ReadonlyMap<string, unknown> {
    return this.#waiting;
  }

  on(id: string | undefined): Promise<Verdict> {
    const settled = new Promise<Verdict>((resolve) => {
      if (id === undefined) return;
      const early = this.#early.get(id);
      const others = this.#waiting.get(id);
      if (early) resolve(early);
      else
        this.#waiting.set(id, (verdict) => {
          others?.(verdict);
          resolve(verdict);
        });
    });
    // Nobody need look at it.
    settled.catch(() => undefined);
    return settled;
  }

  /** Told to who waits; kept, when nobody does, for who asks later. */
  note(verdict: Verdict): void {
    const { id } = verdict;
    const settle = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (settle) settle(verdict);
    else remember(this.#early, id, verdict, EARLY_MAX);
  }

  /** There will be none. */
  end(reason: Error): void {
    for (const settle of this.#waiting.values()) settle(Promise.reject(reason));
  }
}
