/** What a query may do: evaluation steps, work, and time. Spec: values 12, auth 4.5 (`computeOps`). */
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Micros } from '../../values/value.ts';
import { TurnOver } from '../../query/turn-over.ts';
import { timedOut } from './time-over.ts';

const STEPS_PER_OP = 50;
/** The clock is read once in so many steps, and in so many units of work. */
const STEPS_BETWEEN_LOOKS = 1024;
const WORK_BETWEEN_LOOKS = 5_000_000;
/** In a short turn it is read more often. */
const WORK_OF_TURN_MS = 250_000;

/** What evaluation is charged to. */
export interface Steps {
  /** @throws Refusal `bad request` past the steps allowed, `time out` past the time of the query */
  charge(steps: number): void;
  /**
   * Work that is about to be done, beside the steps that call for it.
   * @throws Refusal `bad request` for too much at once or in all, `time out` past the time of the query
   */
  spend(units: number): void;
  /** The query has done all that it may: it fails, whatever caught the refusal. */
  readonly isSpent: boolean;
}

type WorkLimits = { readonly [Name in 'queryWork' | 'callWork']: number };

/** Not all of `LIMITS`, which bundles would then hold as an object. */
const WORK_LIMITS: WorkLimits = { queryWork: LIMITS.queryWork, callWork: LIMITS.callWork };

/** Of work that bounds its own steps. */
export const NO_WORK_LIMITS: WorkLimits = { queryWork: Infinity, callWork: Infinity };

/** Of work that other limits bound: it is charged in whole, up to what a call may take, and never refused for being too much at once. */
export const boundedWork = (units: number): number => Math.min(units, LIMITS.callWork);

/** Of a query. */
export class Budget implements Steps {
  private turnEnd: Micros = Infinity;
  private steps = 0;
  private nextLook = STEPS_BETWEEN_LOOKS;
  private workBetweenLooks = WORK_BETWEEN_LOOKS;
  private workUntilLook = WORK_BETWEEN_LOOKS;
  /** Up to the last look. */
  private spent = 0;
  private readonly clock: () => Micros;
  private readonly deadline: Micros;
  private readonly timeoutMs: number;
  private readonly limits: WorkLimits;

  /** @param started when the query came, by the same clock */
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

  /** It is no step of the query: how many there are would tell of documents that are not shown. */
  spend(units: number): void {
    this.workUntilLook -= units;
    if (this.workUntilLook <= 0) this.lookAtWork(units);
  }

  get isSpent(): boolean {
    return this.spent > this.limits.queryWork;
  }

  /** More than a call may take is more than there is between two looks. */
  private lookAtWork(units: number): void {
    if (units > this.limits.callWork) {
      // It is not done.
      this.workUntilLook += units;
      throw exceeded('A call', LIMITS.callWork, WORK);
    }
    this.spent += this.workBetweenLooks - this.workUntilLook;
    this.workUntilLook = this.workBetweenLooks;
    this.requireTime(units / 1000);
    if (this.isSpent) throw exceeded('Query', LIMITS.queryWork, WORK);
  }

  /** @param aheadMicros what is about to be done takes. @throws Refusal, TurnOver */
  private requireTime(aheadMicros = 0): void {
    const now = this.clock();
    if (now > this.deadline) throw timedOut(this.timeoutMs);
    if (now + aheadMicros > this.turnEnd) throw new TurnOver();
  }

  /** From now on: at its end, evaluation ends too. */
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

/** One evaluation of a predicate may take so many steps, those of functions it calls included. */
const ISOLATED_STEPS_MAX = 20_000;
/** And its calls so much work. */
const ISOLATED_WORK_MAX = 30_000_000;
/** What setting one up takes, and each of its steps. */
const PREDICATE_WORK = 8_000;
const ISOLATED_STEP_WORK = 1_000;
const ISOLATED_STEPS_BETWEEN_LOOKS = 256;

/** Of one predicate after another. */
export class IsolatedBudget implements Steps {
  private steps = 0;
  private nextLook = ISOLATED_STEPS_BETWEEN_LOOKS;
  /** Of the steps. */
  private charged = 0;
  private spent = 0;
  private readonly parent: Steps;

  constructor(parent: Steps) {
    this.parent = parent;
  }

  /** The next predicate. */
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

  /** Predicates below predicates: all of them are work of the outermost, so that they come to an end. */
  spend(units: number): void {
    this.spent += units;
    if (this.spent > ISOLATED_WORK_MAX) throw exceeded('Predicate', ISOLATED_WORK_MAX, WORK);
    this.parent.spend(units);
  }

  get isSpent(): boolean {
    return this.parent.isSpent;
  }
}
