import { utf8Length } from '../../../codec/utf8.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { PushItem } from '../../protocol/writes.ts';

/** Bytes of the message around the writes. */
const ENVELOPE_BYTES = 512;
/** `LIMITS.requestBytes` of the hub divided by `SYNC_LIMITS.pushChars`. */
const BYTES_PER_CHAR = 2;

/** The share of a write in the characters of a push. If its bytes would reach the limit of a request earlier, they count instead. */
export const pushSizeOf = (item: PushItem): number =>
  Math.max(item.query.length, (utf8Length(JSON.stringify(item)) + ENVELOPE_BYTES) / BYTES_PER_CHAR);

/** Whether a push can contain the write at all. A write that the hub cannot accept would block all later ones. */
export const isSendable = (item: PushItem): boolean =>
  pushSizeOf(item) <= SYNC_LIMITS.pushChars && item.ids.length <= SYNC_LIMITS.idsPerItem;

/** The refusal of a write that is not sendable. */
export const NOT_SENDABLE = [
  'request too large',
  `A write of a copy may have ${SYNC_LIMITS.pushChars} characters, or twice as many bytes, and ${SYNC_LIMITS.idsPerItem} new ids. Split it, or run it at the hub.`,
] as const;
