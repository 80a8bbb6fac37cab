/** Of the time, so that documents are in the order of their creation; the rest is random. */
const RANDOM_BITS = 22n;
/** 2020-01-01: ids have 63 bits. */
const EPOCH_MS = 1_577_836_800_000;

let last = 0n;

/**
 * An id for a document that is to be created: TanStack DB shows an item by its key before it is stored.
 * @example
 * console.log(/^\d+$/.test(newId())); // true
 */
export function newId(): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  const ms = BigInt(Date.now() - EPOCH_MS);
  const id = (ms << RANDOM_BITS) | BigInt.asUintN(Number(RANDOM_BITS), BigInt(random));
  // Many may be made in one millisecond: none of this page is made twice.
  last = id > last ? id : last + 1n;
  return String(last);
}
