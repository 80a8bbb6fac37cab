/**
 * The time that wrong passwords are counted by. A user can set the clock of a device: an hour ahead, and all guesses would be forgotten;
 * back, and nobody could log in. So there time goes on only while the engine runs, from the latest wrong password that is stored, or
 * the latest right one after some.
 */
import type { Micros } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';

export type AttemptClockOptions = Pick<EngineOptions, 'clock' | 'elapsed'>;

export class AttemptClock {
  private readonly options: AttemptClockOptions;
  /** What `elapsed` lacks to the time. */
  private base: Micros | undefined = undefined;

  constructor(options: AttemptClockOptions) {
    this.options = options;
  }

  /** It does not go by the wall clock. */
  get isOwn(): boolean {
    return this.options.elapsed !== undefined;
  }

  /** It was not read yet, and begins at the latest of all that is stored. */
  get isNew(): boolean {
    return this.isOwn && this.base === undefined;
  }

  /** @param latest time of a wrong password that is known; undefined: none is */
  now(latest: Micros | undefined): Micros {
    const { clock, elapsed } = this.options;
    if (!elapsed) return clock();
    const passed = elapsed();
    this.base ??= (latest ?? clock()) - passed;
    // Another tab has begun later, or goes faster.
    this.base = Math.max(this.base, (latest ?? -Infinity) - passed);
    return this.base + passed;
  }

  /** As the wall clock shows it now. */
  shown(at: Micros, now: Micros): Micros {
    return this.isOwn ? at + this.options.clock() - now : at;
  }
}
