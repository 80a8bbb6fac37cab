/** The upper bits of an id are the time, so that documents are in the order of their creation; the lower bits are random. */
const RANDOM_BITS = 22n;
/** 2020-01-01: a later epoch than 1970, because ids have 63 bits. */
const EPOCH_MS = 1_577_836_800_000;

let last = 0n;

/**
 * Makes the id of a new document: TanStack DB shows an item under its key before the item is stored.
 * @example
 * console.log(/^\d+$/.test(newId())); // true
 */
export function newId(): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  const ms = BigInt(Date.now() - EPOCH_MS);
  const id = (ms << RANDOM_BITS) | BigInt.asUintN(Number(RANDOM_BITS), BigInt(random));
  // Several ids may be made in one millisecond: adding 1 makes each of them unique in this page.
  last = id > last ? id : last + 1n;
  return String(last);
}
