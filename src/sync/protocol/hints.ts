/** What a hub says unasked, and the WebSocket session that carries hints and pushes. */
import { deviceId, micros } from './identifiers.ts';
import { ANSWERS, piggybackedPull, REQUESTS } from './messages.ts';
import { syncRefusal } from './refusals.ts';
import { anyOf, integer, object, oneOf, optional, text, type TypeOf } from './schema.ts';

/** Something in the sets of a device may have changed. May be lost. Over a WebSocket session, or as a server-sent event. */
export const changeHint = object(() => ({
  head: micros,
  /** What a pull would bring now, when it is little. */
  brought: optional(piggybackedPull),
}));
export type ChangeHint = TypeOf<typeof changeHint>;

/**
 * What a device says in the session (`GET /sync/line`), in one message: first whose it is, then pushes, each after the answer to the one
 * before. What is longer than `SYNC_LIMITS.lineBytes` goes as a request of its own.
 */
const socketRequest = anyOf(
  object(() => ({ open: object(() => ({ token: text(), device: deviceId })) })),
  object(() => ({ n: integer(), push: REQUESTS.push })),
);
export type SocketRequest = TypeOf<typeof socketRequest>;

/** What the hub says in it: that it is open, answers by number, hints, and that it is there. After `refused` without a number it ends. */
export const socketReply = anyOf(
  object(() => ({ poke: changeHint })),
  object(() => ({ beat: oneOf(true) })),
  object(() => ({ n: integer(), pushed: ANSWERS.push })),
  object(() => ({
    n: optional(integer()),
    refused: syncRefusal,
    retryAfterSeconds: optional(integer()),
  })),
  object(() => ({ opened: oneOf(true) })),
);
export type SocketReply = TypeOf<typeof socketReply>;
