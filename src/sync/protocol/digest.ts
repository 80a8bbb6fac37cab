/** What tells one write from another, and whether it did the same in two places. */
import { hexOfBytes } from '../../codec/hex.ts';
import { hexOfKey, withoutDatabase } from '../../codec/key.ts';
import { utf8Bytes } from '../../codec/utf8.ts';
import { idFrom } from '../../engine/session.ts';
import type { WriteSet } from '../../store/port.ts';
import { deviceIdFrom, type IdKey } from './device-ids.ts';
import type { PushItem } from './writes.ts';

type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** Of everything in a write but how it went where it was made. */
export const hashOf = (
  { seq, query, apiVersion, now, ids }: Omit<PushItem, 'hash' | 'digest' | 'idKey'>,
  sha256: Sha256,
): string => hexOfBytes(sha256(utf8Bytes(JSON.stringify([seq, query, apiVersion, now, ids]))));

type Content = Omit<PushItem, 'seq' | 'hash' | 'digest' | 'idKey'>;

/** Of what a write is, whichever device brings it under whichever number. */
const contentHashOf = ({ query, apiVersion, now, ids }: Content, sha256: Sha256): string =>
  hashOf({ seq: 0, query, apiVersion, now, ids }, sha256);

/** Of what a write is and who made it: the person, and the device by its key. Others may write the same at the same time. */
export const makingHashOf = (
  { idKey, ...content }: Omit<PushItem, 'seq' | 'hash' | 'digest'>,
  owner: string,
  sha256: Sha256,
): string =>
  hexOfBytes(sha256(utf8Bytes(JSON.stringify([contentHashOf(content, sha256), owner, idKey]))));

/**
 * Ids that a write makes up beyond those it carries: it found other things than where it was made. The same here and there, and each time it
 * is run again.
 * @param key undefined: the device has none yet
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

/** Of what a query did: the documents it left or removed, and its answer. Commit times are left out: no two places have the same. */
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
  return hexOfBytes(sha256(utf8Bytes(JSON.stringify([left.sort(), masked]))));
}
