/**
 * Memory that the values of a running query take. It is taken before a value is made. When a lambda returns, what it made besides its
 * result is given back, so a loop is bounded by what it keeps.
 */
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { arrayWeight, objectWeight, textWeight, weightOf, type Weights } from '../values/weight.ts';
import { isArray, isKind, isObject, type ObjectValue, type Value } from '../values/value.ts';

const FEW = 16;

/** Of everything else. */
const OTHER = 64;

/** Weighing takes time, too: less than this is charged with what comes next. */
const WORK_MIN = 1_000;

export class MemoryBudget {
  private readonly budget: { spend(units: number): void };
  private taken = 0;
  /** Below this nothing is given back: function values hold on to all that was in reach of them. */
  private floor = 0;
  private weights = newWeights();

  /** @param budget is charged for weighing */
  constructor(budget: { spend(units: number): void }) {
    this.budget = budget;
  }

  /** Bytes taken until now. */
  get mark(): number {
    return this.taken;
  }

  /** @throws Refusal `limit_exceeded` */
  take(bytes: number): void {
    this.taken += bytes;
    if (this.taken > LIMITS.queryBytes) refuseBytes();
  }

  /** Whether there is room for what will be taken when it is made. @throws Refusal `limit_exceeded` */
  ask(bytes: number): void {
    if (this.taken + bytes > LIMITS.queryBytes) refuseBytes();
  }

  /**
   * A value just made: what it takes beside its parts, which were made before.
   * @returns bytes taken
   * @throws Refusal `limit_exceeded`, also when the value is too large to be walked
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

  /** A text just made. @throws Refusal `limit_exceeded` */
  takeText(text: string): void {
    this.take(textWeight(isWide(text) ? text.length * 2 : text.length));
  }

  /** `takeValue` of an array. `isFlat`: it holds no other: few such need no weighing. */
  takeItems(items: readonly Value[], isFlat: boolean): void {
    if (isFlat && items.length <= FEW) this.take(arrayWeight(items.length));
    else this.takeValue(items);
  }

  /** `takeValue` of an object, likewise. */
  takeMembers(object: ObjectValue, isFlat: boolean): void {
    if (isFlat && object.size <= FEW) this.take(objectWeight(object.size));
    else this.takeValue(object);
  }

  /** Of all that was made since `mark` only `kept` is still in use. */
  keepOnly(kept: Value, mark: number): void {
    if (this.taken === mark) return;
    this.taken = Math.max(this.floor, Math.min(this.taken, mark + this.weightOf(kept)));
  }

  /** Bytes of a value if nothing in it were shared. */
  weightOf(value: Value): number {
    const { weights } = this;
    const weight = weightOf(value, weights);
    const { work } = weights;
    if (work < WORK_MIN) return weight;
    weights.work = 0;
    this.budget.spend(work);
    return weight;
  }

  /** A function value was made. */
  pin(): void {
    this.floor = this.taken;
  }

  /** Begins anew. */
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

/** Of a document whose members were not looked at only the text weighs: no stored one is too large. */
const isRead = (value: Extract<Value, object>): boolean =>
  isKind(value, 'document') && value.text !== undefined;

/** Texts with characters beyond Latin-1 take two bytes for each; short ones are not looked at. */
const isWide = (text: string): boolean => text.length > 256 && BEYOND_LATIN_1.test(text);

const BEYOND_LATIN_1 = /[^\0-\xff]/;

function refuseBytes(): never {
  throw new Refusal(
    'limit_exceeded',
    `The values of the query exceed the limit of ${LIMITS.queryBytes} bytes.`,
  );
}
