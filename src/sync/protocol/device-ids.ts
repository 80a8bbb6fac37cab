/**
 * Document ids that devices generate. The last bits of each id are a tag: a hash of the other bits with a key that the hub gave to the
 * device. So a device can make ids while it is offline, but none that another person could have made.
 * See docs/decisions/0012-ids-of-devices.md.
 */
import { utf8Bytes } from '../../codec/utf8.ts';
import type { Sha256 } from '../../codec/sha256.ts';
import { idFrom } from '../../engine/session.ts';
import type { Micros } from '../../values/value.ts';

/** The key of one device of one person: the device id, then digits that only the hub can compute. 64 hexadecimal digits. */
export type IdKey = string;

const TAG_BITS = 20n;
const TAG_MASK = (1n << TAG_BITS) - 1n;
const ID_BITS = 63n;

/** The bits before the tag: a time in quarters of a millisecond, so that ids of devices and of the hub are ordered together. */
const slotAt = (now: Micros): bigint => idFrom(now, NO_BYTES) >> TAG_BITS;
const NO_BYTES = new Uint8Array();

const idIn = (slot: bigint, key: IdKey, sha256: Sha256): bigint => {
  const before = BigInt.asUintN(Number(ID_BITS - TAG_BITS), slot);
  return (before << TAG_BITS) | tagOf(before, key, sha256);
};

function tagOf(slot: bigint, key: IdKey, sha256: Sha256): bigint {
  const [a = 0, b = 0, c = 0] = sha256(utf8Bytes(`${key} ${slot}`));
  return BigInt((a << 16) | (b << 8) | c) & TAG_MASK;
}

/** Whether a device with this key has made the id, or could have. */
export const isIdMadeWith = (key: IdKey, id: bigint, sha256: Sha256): boolean =>
  idIn(id >> TAG_BITS, key, sha256) === id;

/** Each id adds up to this many slots (32 ms) at random: clones of a device have the same key, and would often make equal ids. */
const SPREAD = 127;
/** Random bytes requested at a time, as many as for an id that the hub makes. */
const ID_BYTES = 3;

/** Returns a function that makes ids which grow with time. */
export function createDeviceIds(
  clock: () => Micros,
  random: (bytes: number) => Uint8Array,
  sha256: Sha256,
): (key: IdKey) => bigint {
  let last = 0n;
  return (key) => {
    const slot = slotAt(clock()) + BigInt((random(ID_BYTES)[0] ?? 0) & SPREAD);
    last = slot > last ? slot : last + 1n;
    return idIn(last, key, sha256);
  };
}

/** The id derived from these bytes and this time. Device and hub compute the same id. */
export function deviceIdFrom(now: Micros, bytes: Uint8Array, key: IdKey, sha256: Sha256): bigint {
  const [a = 0, b = 0] = bytes;
  return idIn(slotAt(now) + BigInt((a << 8) | b), key, sha256);
}
