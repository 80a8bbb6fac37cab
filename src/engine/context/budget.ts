/** Limits of a query: evaluation steps, work and time. Spec: values 12, auth 4.5 (`computeOps`). */
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Micros } from '../../values/value.ts';
import { TurnOver } from '../../query/turn-over.ts';
import { timedOut } from './time-over.ts';

const STEPS_PER_OP = 50;
/** The clock is read after this many steps, and after this many units of work. */
const STEPS_BETWEEN_LOOKS = 1024;
const WORK_BETWEEN_LOOKS = 5_000_000;
/** Units of work between two readings of the clock, for each ms of a turn: short turns need more frequent readings. */
const WORK_OF_TURN_MS = 250_000;

/** Counts the cost of an evaluation. */
export interface Steps {
  /** @throws Refusal `bad request` after too many steps, `time out` after the time limit of the query */
  charge(steps: number): void;
  /**
   * Charges work before it is done, in addition to the steps of the calls that cause it.
   * @throws Refusal `bad request` for too much work in one call or in total, `time out` after the time limit of the query
   */
  spend(units: number): void;
  /** The query has used up its work limit. It fails even if code caught the refusal. */
  readonly isSpent: boolean;
}

type WorkLimits = { readonly [Name in 'queryWork' | 'callWork']: number };

/** Not `LIMITS` itself: bundles would then contain it as a whole object. */
const WORK_LIMITS: WorkLimits = { queryWork: LIMITS.queryWork, callWork: LIMITS.callWork };

/** For internal work that limits its own steps. */
export const NO_WORK_LIMITS: WorkLimits = { queryWork: Infinity, callWork: Infinity };

/** For work that other limits bound: charges all of it up to the limit of one call, so that it is never refused as too much at once. */
export const boundedWork = (units: number): number => Math.min(units, LIMITS.callWork);

/** The budget of one query. */
export class Budget implements Steps {
  private turnEnd: Micros = Infinity;
  private steps = 0;
  private nextLook = STEPS_BETWEEN_LOOKS;
  private workBetweenLooks = WORK_BETWEEN_LOOKS;
  private workUntilLook = WORK_BETWEEN_LOOKS;
  /** Units of work up to the last reading of the clock. */
  private spent = 0;
  private readonly clock: () => Micros;
  private readonly deadline: Micros;
  private readonly timeoutMs: number;
  private readonly limits: WorkLimits;

  /** @param started when the query arrived, by the same clock */
  constructor(
    clock: () => Micros,
    started: Micros,
    timeoutMs: number,
    limits: WorkLimits = WORK_LIMITS,
  ) {
    this.limits = limits;
    this.clock = clock;
    this.timeoutMs = timeoutMs;
    this.deadline = started + timeoutMs * 1000;
  }

  charge(steps: number): void {
    this.steps += steps;
    if (this.steps < this.nextLook) return;
    this.nextLook = Math.min(this.steps + STEPS_BETWEEN_LOOKS, LIMITS.evaluationSteps + 1);
    if (this.steps > LIMITS.evaluationSteps) {
      throw exceeded('Query', LIMITS.evaluationSteps / STEPS_PER_OP, 'compute operations');
    }
    this.requireTime();
  }

  /** Work does not count as steps: callers are shown the number of steps, which would then reveal how many hidden documents there are. */
  spend(units: number): void {
    this.workUntilLook -= units;
    if (this.workUntilLook <= 0) this.lookAtWork(units);
  }

  get isSpent(): boolean {
    return this.spent > this.limits.queryWork;
  }

  /**
   * Called when the work since the last reading of the clock is used up. `callWork` exceeds that amount, so a call over its limit always
   * gets here.
   */
  private lookAtWork(units: number): void {
    if (units > this.limits.callWork) {
      // The call is rejected, so its work is not counted.
      this.workUntilLook += units;
      throw exceeded('A call', LIMITS.callWork, WORK);
    }
    this.spent += this.workBetweenLooks - this.workUntilLook;
    this.workUntilLook = this.workBetweenLooks;
    this.requireTime(units / 1000);
    if (this.isSpent) throw exceeded('Query', LIMITS.queryWork, WORK);
  }

  /**
   * @param aheadMicros expected duration of the work that is about to begin
   * @throws Refusal, TurnOver
   */
  private requireTime(aheadMicros = 0): void {
    const now = this.clock();
    if (now > this.deadline) throw timedOut(this.timeoutMs);
    if (now + aheadMicros > this.turnEnd) throw new TurnOver();
  }

  /** Starts a turn. When it ends, the evaluation throws `TurnOver`. */
  limitTurn(ms: number): void {
    this.turnEnd = this.clock() + ms * 1000;
    this.workBetweenLooks = Math.min(WORK_BETWEEN_LOOKS, Math.max(1, ms) * WORK_OF_TURN_MS);
    this.workUntilLook = this.workBetweenLooks;
  }

  get computeOps(): number {
    return Math.max(1, Math.ceil(this.steps / STEPS_PER_OP));
  }
}

const exceeded = (what: string, limit: number, unit: string): Refusal =>
  new Refusal('bad request', `${what} exceeded the limit of ${limit} ${unit}.`);

const WORK = 'units of work';

/** Most steps of one evaluation of a predicate, including the functions that it calls. */
const ISOLATED_STEPS_MAX = 20_000;
/** Most work of the calls in one evaluation of a predicate. */
const ISOLATED_WORK_MAX = 30_000_000;
/** Work charged for setting up a predicate, and for each of its steps. */
const PREDICATE_WORK = 8_000;
const ISOLATED_STEP_WORK = 1_000;
const ISOLATED_STEPS_BETWEEN_LOOKS = 256;

/** The budget of predicates, which are evaluated one after the other. Their cost is charged to the query as work. */
export class IsolatedBudget implements Steps {
  private steps = 0;
  private nextLook = ISOLATED_STEPS_BETWEEN_LOOKS;
  /** Number of steps already charged to the parent as work. */
  private charged = 0;
  private spent = 0;
  private readonly parent: Steps;

  constructor(parent: Steps) {
    this.parent = parent;
  }

  /** Starts the next predicate. */
  begin(): void {
    const work = PREDICATE_WORK + this.uncharged;
    this.steps = 0;
    this.nextLook = ISOLATED_STEPS_BETWEEN_LOOKS;
    this.charged = 0;
    this.spent = 0;
    this.parent.spend(work);
  }

  charge(steps: number): void {
    this.steps += steps;
    if (this.steps < this.nextLook) return;
    this.nextLook = Math.min(this.steps + ISOLATED_STEPS_BETWEEN_LOOKS, ISOLATED_STEPS_MAX + 1);
    this.parent.spend(this.uncharged);
    this.charged = this.steps;
    if (this.steps <= ISOLATED_STEPS_MAX) return;
    throw exceeded('Predicate', ISOLATED_STEPS_MAX, 'steps');
  }

  private get uncharged(): number {
    return (this.steps - this.charged) * ISOLATED_STEP_WORK;
  }

  /** The work of nested predicates also counts for the outermost predicate, so that nesting is bounded. */
  spend(units: number): void {
    this.spent += units;
    if (this.spent > ISOLATED_WORK_MAX) throw exceeded('Predicate', ISOLATED_WORK_MAX, WORK);
    this.parent.spend(units);
  }

  get isSpent(): boolean {
    return this.parent.isSpent;
  }
}
