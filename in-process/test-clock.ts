/** The clock of `createClock()`. */
import { createClock as createRealClock } from '../hosts/clock.ts';
import { requireKnown } from '../src/schema/require-known.ts';
import type { TestClock, TimeSpan } from './test-kit.ts';

const MICROS = 1000;
const UNITS = ['days', 'hours', 'minutes', 'seconds', 'ms'] satisfies (keyof TimeSpan)[];

export class SetClock implements TestClock {
  private readonly real = createRealClock();
  private offset = 0;

  /** The time in µs. */
  readonly micros = (): number => this.real() + this.offset;

  now(): Date {
    return new Date(this.micros() / MICROS);
  }

  set(time: Date | number | string): void {
    const ms = new Date(time).getTime();
    if (Number.isNaN(ms)) throw new RangeError(`The clock cannot be set to ${String(time)}.`);
    this.offset += ms * MICROS - this.micros();
  }

  /** @throws UsageError for an unknown unit: the clock would not move. RangeError for an amount that is no number */
  advance(by: TimeSpan): void {
    requireKnown(by, UNITS);
    const { days = 0, hours = 0, minutes = 0, seconds = 0, ms = 0 } = by;
    if (![days, hours, minutes, seconds, ms].every(Number.isFinite))
      throw new RangeError(`The clock cannot be advanced by ${JSON.stringify(by)}.`);
    const allMinutes = minutes + 60 * (hours + 24 * days);
    this.offset += (ms + 1000 * (seconds + 60 * allMinutes)) * MICROS;
  }
}
