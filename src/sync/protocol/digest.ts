/** Hashes that identify a write, and a digest that shows whether it had the same effects in two places. */
import { hexOfKey, withoutDatabase } from '../../codec/key.ts';
import { utf8Bytes } from '../../codec/utf8.ts';
import { hexHash, type Sha256 } from '../../codec/sha256.ts';
import { idFrom } from '../../engine/session.ts';
import type { WriteSet } from '../../store/port.ts';
import { deviceIdFrom, type IdKey } from './device-ids.ts';
import type { PushItem } from './writes.ts';

/** The hash of a write, over everything except its result on the device (`digest`) and its key. */
export const hashOf = (
  { seq, query, apiVersion, now, ids }: Omit<PushItem, 'hash' | 'digest' | 'idKey'>,
  sha256: Sha256,
): string => hexHash(JSON.stringify([seq, query, apiVersion, now, ids]), sha256);

type Content = Omit<PushItem, 'seq' | 'hash' | 'digest' | 'idKey'>;

/** The hash of the content of a write, which does not depend on the device that sends it and on its number. */
const contentHashOf = ({ query, apiVersion, now, ids }: Content, sha256: Sha256): string =>
  hashOf({ seq: 0, query, apiVersion, now, ids }, sha256);

/** The hash of the content and the maker of a write: the person, and the device by its key. Others may make an equal write at that time. */
export const makingHashOf = (
  { idKey, ...content }: Omit<PushItem, 'seq' | 'hash' | 'digest'>,
  owner: string,
  sha256: Sha256,
): string => hexHash(JSON.stringify([contentHashOf(content, sha256), owner, idKey]), sha256);

/**
 * Ids for a write that needs more ids than it carries, because it met other data than on the device. They are derived from its content, so
 * they are the same on the device and at the hub, and each time that the write runs again.
 * @param key undefined: the device has no key yet
 */
export function derivedIds(
  item: Content,
  key: IdKey | undefined,
  sha256: Sha256,
): (index: number) => bigint {
  const content = contentHashOf(item, sha256);
  return (index) => {
    const bytes = sha256(utf8Bytes(`${content} ${index}`));
    return key === undefined ? idFrom(item.now, bytes) : deviceIdFrom(item.now, bytes, key, sha256);
  };
}

/** The digest of what a query did: the documents it wrote or removed, and its answer. Commit times are left out: they differ. */
export function digestOf({ puts, deletes }: WriteSet, answer: string, sha256: Sha256): string {
  const left: string[] = [];
  for (const { space, row } of puts) {
    if (space !== 'documents') continue;
    const text = String(row.value);
    left.push(`${hexOfKey(withoutDatabase(row.key))} ${text.slice(text.indexOf('\n') + 1)}`);
  }
  for (const { space, key } of deletes)
    if (space === 'documents') left.push(hexOfKey(withoutDatabase(key)));
  const masked = answer.replaceAll(/"ts":\d+/g, '"ts":0');
  return hexHash(JSON.stringify([left.sort(), masked]), sha256);
}
