/** Change hints, which a hub sends without a request, and the messages of the WebSocket that carries hints and pushes. */
import { deviceId, micros } from './identifiers.ts';
import { ANSWERS, piggybackedPull, REQUESTS } from './messages.ts';
import { syncRefusal } from './refusals.ts';
import { anyOf, integer, object, oneOf, optional, text, type TypeOf } from './schema.ts';

/** Tells a device that its sets may have changed. Sent over the WebSocket, or as a server-sent event. Hints may be lost. */
export const changeHint = object(() => ({
  head: micros,
  /** The answer to the pull that the device would send now, if it is small. */
  brought: optional(piggybackedPull),
}));
export type ChangeHint = TypeOf<typeof changeHint>;

/**
 * A message of the device over the WebSocket (`GET /sync/line`): first `open` with its token and id, then pushes, each after the answer to
 * the previous one. Pushes longer than `SYNC_LIMITS.lineBytes` are sent as HTTP requests.
 */
const socketRequest = anyOf(
  object(() => ({ open: object(() => ({ token: text(), device: deviceId })) })),
  object(() => ({ n: integer(), push: REQUESTS.push })),
);
export type SocketRequest = TypeOf<typeof socketRequest>;

/** A message of the hub: `opened`, numbered answers, hints, heartbeats. After `refused` without a number, it closes the connection. */
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
