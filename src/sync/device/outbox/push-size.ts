import { utf8Length } from '../../../codec/utf8.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { PushItem } from '../../protocol/writes.ts';

/** Of the message around the writes. */
const ENVELOPE_BYTES = 512;
/** `LIMITS.requestBytes` of the hub for each of `SYNC_LIMITS.pushChars`. */
const BYTES_PER_CHAR = 2;

/** What a write takes of the characters of a push, or of the bytes that a request may have, where that is more. */
export const pushSizeOf = (item: PushItem): number =>
  Math.max(item.query.length, (utf8Length(JSON.stringify(item)) + ENVELOPE_BYTES) / BYTES_PER_CHAR);

/** Whether any push can carry it: one that the hub cannot take would hold up all writes behind it. */
export const isSendable = (item: PushItem): boolean =>
  pushSizeOf(item) <= SYNC_LIMITS.pushChars && item.ids.length <= SYNC_LIMITS.idsPerItem;

/** Of one that is not. */
export const NOT_SENDABLE = [
  'request too large',
  `A write of a copy may have ${SYNC_LIMITS.pushChars} characters, or twice as many bytes, and ${SYNC_LIMITS.idsPerItem} new ids. Split it, or run it at the hub.`,
] as const;
