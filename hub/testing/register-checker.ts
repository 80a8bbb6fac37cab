/**
 * Checks the history of one register: is there an order of its operations that respects real time and explains every answer? (The
 * algorithm of Wing and Gong.)
 */

export type RegisterCall =
  | { readonly kind: 'write'; readonly value: number }
  | { readonly kind: 'read'; readonly value: number }
  /** `isSet`: whether the client was told that the register had the value `from`. */
  | {
      readonly kind: 'compare and set';
      readonly from: number;
      readonly to: number;
      readonly isSet: boolean;
    };

export interface RegisterOperation {
  readonly call: RegisterCall;
  readonly invoked: number;
  /** Infinity if it is unknown whether the operation took effect. */
  readonly completed: number;
}

/** A set of operations as bits. */
type Done = bigint;

export function isLinearizable(operations: readonly RegisterOperation[], initial: number): boolean {
  const certain = operations.reduce<Done>(
    (bits, { completed }, i) => (completed === Infinity ? bits : bits | (1n << BigInt(i))),
    0n,
  );
  const tried = new Set<string>();
  const open: { readonly done: Done; readonly value: number }[] = [{ done: 0n, value: initial }];
  for (let state = open.pop(); state; state = open.pop()) {
    const { done, value } = state;
    if ((done & certain) === certain) return true;
    const name = `${done.toString(36)} ${value}`;
    if (tried.has(name)) continue;
    tried.add(name);
    const waiting = operations.flatMap((each, i) =>
      (done >> BigInt(i)) & 1n ? [] : [{ ...each, bit: 1n << BigInt(i) }],
    );
    const firstEnd = Math.min(...waiting.map(({ completed }) => completed));
    for (const { call, invoked, completed, bit } of waiting) {
      // An operation that began after another had ended comes after it.
      if (invoked > firstEnd) continue;
      const next = valueAfter(call, value, completed === Infinity);
      if (next !== undefined) open.push({ done: done | bit, value: next });
    }
  }
  return false;
}

/** The value of the register after the call; undefined if the answer to the call contradicts the value before it. */
function valueAfter(call: RegisterCall, value: number, isUnknown: boolean): number | undefined {
  if (call.kind === 'write') return call.value;
  if (call.kind === 'read') return isUnknown || call.value === value ? value : undefined;
  const isSet = call.from === value;
  return isUnknown || isSet === call.isSet ? (isSet ? call.to : value) : undefined;
}
