/** Work a query may do: evaluation steps, and time. Spec: values 12, auth 4.5 (`computeOps`). */
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Micros } from '../../values/value.ts';

const STEPS_PER_OP = 50;
/** The clock is read once in so many steps. */
const STEPS_BETWEEN_LOOKS = 1024;

/** What evaluation is charged to. */
export interface Steps {
  /** @throws Refusal `bad request` past the steps allowed, `time out` past the time of the query */
  charge(steps: number): void;
  /** Steps of predicates that are evaluated on behalf of it. @throws Refusal as `charge` */
  chargeIsolated(steps: number): void;
}

export class Budget implements Steps {
  private steps = 0;
  private nextLook = STEPS_BETWEEN_LOOKS;
  private isolatedSteps = 0;
  private nextIsolatedLook = STEPS_BETWEEN_LOOKS;
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
    this.nextLook = Math.min(this.steps + STEPS_BETWEEN_LOOKS, LIMITS.evaluationSteps + 1);
    if (this.steps > LIMITS.evaluationSteps) {
      throw new Refusal(
        'bad request',
        `Query exceeded the limit of ${LIMITS.evaluationSteps / STEPS_PER_OP} compute operations.`,
      );
    }
    this.requireTime();
  }

  /** Takes time, but is no step of the query: how many there are would tell of documents that are not shown. */
  chargeIsolated(steps: number): void {
    this.isolatedSteps += steps;
    if (this.isolatedSteps < this.nextIsolatedLook) return;
    this.nextIsolatedLook = this.isolatedSteps + STEPS_BETWEEN_LOOKS;
    this.requireTime();
  }

  private requireTime(): void {
    if (this.clock() <= this.deadline) return;
    throw new Refusal('time out', `Query took longer than its time limit of ${this.timeoutMs} ms.`);
  }

  get computeOps(): number {
    return Math.max(1, Math.ceil(this.steps / STEPS_PER_OP));
  }
}

/** One evaluation of a predicate may take so many steps, those of functions it calls included. */
const ISOLATED_STEPS_MAX = 20_000;

/** Of one predicate after another. */
export class IsolatedBudget implements Steps {
  private steps = 0;
  private readonly parent: Steps;

  constructor(parent: Steps) {
    this.parent = parent;
  }

  /** The next predicate. */
  begin(): void {
    this.steps = 0;
  }

  charge(steps: number): void {
    this.steps += steps;
    this.parent.chargeIsolated(steps);
    if (this.steps <= ISOLATED_STEPS_MAX) return;
    throw new Refusal(
      'bad request',
      `Predicate exceeded the limit of ${ISOLATED_STEPS_MAX} steps.`,
    );
  }

  /** Predicates below predicates: all of them are steps of the outermost, so that they come to an end. */
  chargeIsolated(steps: number): void {
    this.charge(steps);
  }
}
