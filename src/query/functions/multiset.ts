/** Counts values, with the equality of array elements: 1 and 1.0 differ. For `distinct` and the set algebra of arrays. */
import { equalValues } from '../../values/equal.ts';
import { setForOrder } from '../../values/sets.ts';
import { isArray, isKinded, isNumber, isObject } from '../../values/value.ts';
import type { Kinded, Value } from '../../values/value.ts';
import { walking } from '../costs.ts';
import type { PureContext } from '../define.ts';

interface Count {
  readonly value: Value;
  count: number;
}

export class Multiset {
  private readonly buckets = new Map<string, Count[]>();
  private readonly context: Pick<PureContext, 'session'>;

  /** @param context is charged before each look-up */
  constructor(context: Pick<PureContext, 'session'>) {
    this.context = context;
  }

  countOf(value: Value): number {
    return this.find(value)?.count ?? 0;
  }

  /** Returns the new count. */
  add(value: Value): number {
    const found = this.find(value);
    if (found) {
      found.count += 1;
      return found.count;
    }
    const bucket = bucketOf(value);
    const counts = this.buckets.get(bucket);
    if (counts) counts.push({ value, count: 1 });
    else this.buckets.set(bucket, [{ value, count: 1 }]);
    return 1;
  }

  /** Removes one occurrence. Returns false if there was none. */
  take(value: Value): boolean {
    const found = this.find(value);
    if (!found || found.count === 0) return false;
    found.count -= 1;
    return true;
  }

  private find(value: Value): Count | undefined {
    this.context.session.spend(LOOK_UP + walking(value, this.context));
    return this.buckets.get(bucketOf(value))?.find((each) => equalValues([each.value], [value]));
  }
}

/** Units of work of a look-up, in addition to traversing the value. */
const LOOK_UP = 1_000;

export function multisetOf(
  values: readonly Value[],
  context: Pick<PureContext, 'session'>,
): Multiset {
  const multiset = new Multiset(context);
  for (const value of values) multiset.add(value);
  return multiset;
}

/** Equal values are in the same bucket. Few different values share one. */
function bucketOf(value: Value): string {
  if (typeof value === 'string') return STRINGS.get(value) ?? `"${value}"`;
  // 0.0 and -0.0 are equal here.
  if (isNumber(value)) return typeof value === 'object' ? `d${value.value + 0}` : String(value);
  if (isArray(value)) return `[${value.map(bucketOf).join(',')}]`;
  if (isObject(value)) return `{${objectBuckets(value).join(',')}}`;
  return isKinded(value) ? kindBucket(value) : String(value);
}

const objectBuckets = (value: ReadonlyMap<string, Value>): string[] =>
  [...value].map(([key, member]) => `"${key}":${bucketOf(member)}`).sort();

// Actions and strings are compared loosely, so all that may be equal share a bucket.
const STRINGS: ReadonlyMap<string, string> = new Map([
  ['create', 'action'],
  ['update', 'action'],
  ['add', 'action'],
  ['delete', 'action'],
  ['remove', 'action'],
]);

function kindBucket(value: Kinded): string {
  switch (value.kind) {
    case 'ref':
      return `ref${value.database}/${value.collection}/${value.id}`;
    case 'document':
      return `document${value.ref.collection}/${value.ref.id}`;
    case 'time':
      return `time${value.nanos}`;
    case 'date':
      return `date${value.day}`;
    case 'uuid':
      return `uuid${value.text}`;
    case 'unresolved':
      return `unresolved${value.wire}`;
    case 'bytes':
      return `bytes${value.bytes.join()}`;
    case 'event':
      return `event${value.ts}${value.action}`;
    case 'lambda':
      return `lambda${value.wire}`;
    case 'page':
      return `page${bucketOf(value.data)}`;
    case 'set':
      return `set${bucketOf(setForOrder(value))}`;
    case 'sourced':
      return `sourced${bucketOf(value.value)}`;
    default:
      return value.kind;
  }
}
