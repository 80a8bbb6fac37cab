import { utf8Length } from '../../../codec/utf8.ts';
import type { PushItem } from '../../protocol/writes.ts';

/** Of the message around the writes. */
const ENVELOPE_BYTES = 512;
/** `LIMITS.requestBytes` of the hub for each of `SYNC_LIMITS.pushChars`. */
const BYTES_PER_CHAR = 2;

/** What a write takes of the characters of a push, or of the bytes that a request may have, where that is more. */
export const pushSizeOf = (item: PushItem): number =>
  Math.max(item.query.length, (utf8Length(JSON.stringify(item)) + ENVELOPE_BYTES) / BYTES_PER_CHAR);
