/**
 * The memory that the values of a running query take. It is taken before a value is made. When a lambda returns, the
 * memory of all that it made, except its result, is released. So a loop is limited by what it keeps.
 */
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { arrayWeight, objectWeight, textWeight, weightOf, type Weights } from '../values/weight.ts';
import { isArray, isKind, isObject, type ObjectValue, type Value } from '../values/value.ts';

const FEW = 16;

/** Bytes of a value that is neither a text, an array, an object nor a page. */
const OTHER = 64;

/** Weighing values is work too. A smaller amount is not charged until more has been weighed. */
const WORK_MIN = 1_000;

export class MemoryBudget {
  private readonly budget: { spend(units: number): void };
  private taken = 0;
  /** Memory below this mark is not released, because closures keep alive all values that were in their scope. */
  private floor = 0;
  private weights = newWeights();

  /** @param budget is charged for the work of weighing */
  constructor(budget: { spend(units: number): void }) {
    this.budget = budget;
  }

  /** Bytes taken so far. */
  get mark(): number {
    return this.taken;
  }

  /** @throws Refusal `limit_exceeded` */
  take(bytes: number): void {
    this.taken += bytes;
    if (this.taken > LIMITS.queryBytes) refuseBytes();
  }

  /**
   * Checks that there is room for bytes that will be taken later, when the value is made.
   * @throws Refusal `limit_exceeded`
   */
  ask(bytes: number): void {
    if (this.taken + bytes > LIMITS.queryBytes) refuseBytes();
  }

  /**
   * Takes memory for a new value, without its parts, which were counted when they were made.
   * @returns bytes taken
   * @throws Refusal `limit_exceeded`, also when the value is too large to be traversed
   */
  takeValue(value: Extract<Value, object>): number {
    if (isRead(value)) {
      this.take(OTHER);
      return OTHER;
    }
    const bytes = this.ownWeight(value);
    this.take(bytes);
    if (this.weightOf(value) > LIMITS.queryBytes) refuseBytes();
    return bytes;
  }

  /** Takes memory for a new text. @throws Refusal `limit_exceeded` */
  takeText(text: string): void {
    this.take(textWeight(isWide(text) ? text.length * 2 : text.length));
  }

  /** `takeValue` for an array. `isFlat`: it contains no arrays or objects, so a short one need not be weighed. */
  takeItems(items: readonly Value[], isFlat: boolean): void {
    if (isFlat && items.length <= FEW) this.take(arrayWeight(items.length));
    else this.takeValue(items);
  }

  /** `takeValue` for an object. `isFlat` as in `takeItems`. */
  takeMembers(object: ObjectValue, isFlat: boolean): void {
    if (isFlat && object.size <= FEW) this.take(objectWeight(object.size));
    else this.takeValue(object);
  }

  /** Releases all memory taken since `mark`, except that of `kept`. */
  keepOnly(kept: Value, mark: number): void {
    if (this.taken === mark) return;
    this.taken = Math.max(this.floor, Math.min(this.taken, mark + this.weightOf(kept)));
  }

  /** Bytes of a value with all its parts, counting shared parts each time they occur. */
  weightOf(value: Value): number {
    const { weights } = this;
    const weight = weightOf(value, weights);
    const { work } = weights;
    if (work < WORK_MIN) return weight;
    weights.work = 0;
    this.budget.spend(work);
    return weight;
  }

  /** Called when a closure was made: all values made so far may be in its scope, so their memory is no longer released. */
  pin(): void {
    this.floor = this.taken;
  }

  /** Resets the budget. */
  clear(): void {
    this.taken = 0;
    this.floor = 0;
    this.weights = newWeights();
  }

  private ownWeight(value: Extract<Value, object>): number {
    if (isArray(value)) return arrayWeight(value.length);
    if (isObject(value)) return objectWeight(value.size);
    return isKind(value, 'page') ? this.weightOf(value) : OTHER;
  }
}

const newWeights = (): Weights => ({ known: new WeakMap(), work: 0 });

/**
 * Whether the value is a document whose members have not been parsed. Only its text takes memory, and no stored
 * document is too large.
 */
const isRead = (value: Extract<Value, object>): boolean =>
  isKind(value, 'document') && value.text !== undefined;

/** Whether a text takes two bytes per character, because it has characters beyond Latin-1. Short texts are not examined. */
const isWide = (text: string): boolean => text.length > 256 && BEYOND_LATIN_1.test(text);

const BEYOND_LATIN_1 = /[^\0-\xff]/;

function refuseBytes(): never {
  throw new Refusal(
    'limit_exceeded',
    `The values of the query exceed the limit of ${LIMITS.queryBytes} bytes.`,
  );
}
