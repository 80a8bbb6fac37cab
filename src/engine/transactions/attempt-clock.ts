/**
 * The clock for counting wrong passwords. On a device, the user can set the wall clock: an hour ahead would forget all wrong guesses, and a
 * time in the past would lock everybody out. There, this clock advances only while the engine runs. It starts at the latest stored time: of
 * a wrong password, or of a correct one that followed wrong ones.
 */
import type { Micros } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';

export type AttemptClockOptions = Pick<EngineOptions, 'clock' | 'elapsed'>;

export class AttemptClock {
  private readonly options: AttemptClockOptions;
  /** Added to `elapsed` to get the time. Undefined until the first reading. */
  private base: Micros | undefined = undefined;

  constructor(options: AttemptClockOptions) {
    this.options = options;
  }

  /** Whether this clock is independent of the wall clock. */
  get isOwn(): boolean {
    return this.options.elapsed !== undefined;
  }

  /** Whether an independent clock has not been read yet. Its first reading needs the latest of all stored times. */
  get isNew(): boolean {
    return this.isOwn && this.base === undefined;
  }

  /** @param latest latest known time of a wrong password. Undefined: there is none */
  now(latest: Micros | undefined): Micros {
    const { clock, elapsed } = this.options;
    if (!elapsed) return clock();
    const passed = elapsed();
    this.base ??= (latest ?? clock()) - passed;
    // The clock of another tab may have started at a later time, or run faster.
    this.base = Math.max(this.base, (latest ?? -Infinity) - passed);
    return this.base + passed;
  }

  /** Converts a time of this clock to wall-clock time. */
  shown(at: Micros, now: Micros): Micros {
    return this.isOwn ? at + this.options.clock() - now : at;
  }
}
