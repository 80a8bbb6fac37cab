/** Work a query may do: evaluation steps, and time. Spec: values 12, auth 4.5 (`computeOps`). */
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Micros } from '../values/value.ts';

const STEPS_PER_OP = 50;
/** The clock is looked at once in so many steps. */
const STEPS_BETWEEN_LOOKS = 1024;

export class Budget {
  private steps = 0;
  private nextLook = STEPS_BETWEEN_LOOKS;
  private readonly clock: () => Micros;
  private readonly deadline: Micros;
  private readonly timeoutMs: number;

  /** @param started when the query came, by the same clock */
  constructor(clock: () => Micros, started: Micros, timeoutMs: number) {
    this.clock = clock;
    this.timeoutMs = timeoutMs;
    this.deadline = started + timeoutMs * 1000;
  }

  /** @throws Refusal `bad request` past the steps of a query, `time out` past its time */
  charge(steps: number): void {
    this.steps += steps;
    if (this.steps < this.nextLook) return;
    this.nextLook = this.steps + STEPS_BETWEEN_LOOKS;
    if (this.steps > LIMITS.evaluationSteps) {
      throw new Refusal('bad request', `Query exceeded the limit of ${LIMITS.evaluationSteps / STEPS_PER_OP} compute operations.`);
    }
    if (this.clock() > this.deadline) {
      throw new Refusal('time out', `Query took longer than its time limit of ${this.timeoutMs} ms.`);
    }
  }

  get computeOps(): number {
    return Math.max(1, Math.ceil(this.steps / STEPS_PER_OP));
  }
}
