import { utf8Length } from '../../../codec/utf8.ts';
import { Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { PushItem } from '../../protocol/writes.ts';

/** Bytes of the message around the writes. */
const ENVELOPE_BYTES = 512;
/** `LIMITS.requestBytes` of the hub divided by `SYNC_LIMITS.pushChars`. */
const BYTES_PER_CHAR = 2;

/** The share of a write in the characters of a push. If its bytes would reach the limit of a request earlier, they count instead. */
export const pushSizeOf = (item: PushItem): number =>
  Math.max(item.query.length, (utf8Length(JSON.stringify(item)) + ENVELOPE_BYTES) / BYTES_PER_CHAR);

/**
 * Refuses a write that no push can contain: the hub would never accept it, and it would block all later ones.
 * @throws Refusal `request too large`
 */
export function requireSendable(item: PushItem): void {
  const { pushChars, idsPerItem } = SYNC_LIMITS;
  if (pushSizeOf(item) <= pushChars && item.ids.length <= idsPerItem) return;
  throw new Refusal(
    'request too large',
    `A write of a copy may have ${pushChars} characters, or twice as many bytes, and ${idsPerItem} new ids. Split it, or run it at the hub.`,
  );
}
