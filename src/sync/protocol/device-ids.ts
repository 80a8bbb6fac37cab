/**
 * Ids that devices make up. Each ends with a tag over the rest of it, made with a key that the hub gives to the device: it makes ids while
 * it is offline, and none that is anybody else's. See docs/decisions/0012-ids-of-devices.md.
 */
import { utf8Bytes } from '../../codec/utf8.ts';
import { idFrom } from '../../engine/session.ts';
import type { Micros } from '../../values/value.ts';

type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** Of one device of one person: the id of the device, then what only the hub can compute. 64 hexadecimal digits. */
export type IdKey = string;

const TAG_BITS = 20n;
const TAG_MASK = (1n << TAG_BITS) - 1n;
const ID_BITS = 63n;

/** What comes before the tag: a time, in quarters of a millisecond, so that ids of devices are ordered among those of the hub. */
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

/** Whether a device with the key has made it, or could have. */
export const isIdMadeWith = (key: IdKey, id: bigint, sha256: Sha256): boolean =>
  idIn(id >> TAG_BITS, key, sha256) === id;

/** Clones of one device have one key: they make the same id only within so many slots (32 ms), and then seldom. */
const SPREAD = 127;
/** Asked for at a time: as many as for an id of the hub. */
const ID_BYTES = 3;

/** Makes ids that grow with time. */
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

/** The id that stands for these bytes at this time: each place makes the same. */
export function deviceIdFrom(now: Micros, bytes: Uint8Array, key: IdKey, sha256: Sha256): bigint {
  const [a = 0, b = 0] = bytes;
  return idIn(slotAt(now) + BigInt((a << 8) | b), key, sha256);
}
