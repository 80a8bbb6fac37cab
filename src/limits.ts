/**
 * Every bound on input and work. Names end in their unit. Tables that the browser loads are modules, so that a bundle holds no limit that it
 * does not use, and each where it is used.
 */
export * as DATA_LIMITS from './limits/data.ts';
export * as LIMITS from './limits/database.ts';
export * as SYNC_LIMITS from './limits/sync.ts';

/** What a hub takes from the network, beside what can be set (hub/settings/settings-table.ts). Sources: threats (d). */
export const HUB_LIMITS = {
  headerBytes: 8 * 1024,
  requestLineBytes: 16 * 1024,
  headerMs: 10_000,
  requestMs: 60_000,
  keepAliveMs: 5_000,
  /** A connection beyond those that its address may have waits so long for one of them to end. */
  connectionWaitMs: 10_000,
  /** A connection over HTTP/2 on which nothing happens. */
  sessionIdleMs: 60_000,
  /** Requests that one such connection may have open, beside as many event streams as a credential may have. */
  requestsPerSession: 128,
  /** Of a compressed body, once it is larger than `inflatedFreeBytes`. */
  inflateRatio: 20,
  inflatedFreeBytes: 64 * 1024,
  /** A body that is parsed by the thread that answers everybody: of anything but queries and pushes. */
  parsedBodyBytes: 1024 * 1024,
  /** Values in it, about: to parse one takes as long as some twenty bytes of text. Of messages of sync and live queries. */
  messageValues: 50_000,
  /** Likewise of what that thread also makes a query of, or evaluates: the older REST routes, streams, log exports. */
  otherBodyValues: 10_000,
  /** Bodies of all requests that are being read or answered. */
  bodyBytesInMemory: 64 * 1024 * 1024,
  bodyBytesPerAddress: 32 * 1024 * 1024,
  /** What is read of a body before its credential is checked. */
  smallBodyBytes: 64 * 1024,
  /** At least so much of a body arrives in so much time. */
  bodyWindowMs: 10_000,
  bodyWindowBytes: 1024,
  /** Answers that are not read yet: those that are written in parts, and over HTTP/2 all that are not short. */
  answerBytesInMemory: 256 * 1024 * 1024,
  answerBytesPerCredential: 64 * 1024 * 1024,
  /** Requests of one credential that wait while as many run as may. */
  waitingPerCredential: 400,
  /** Requests of one connection over HTTP/1.1 that wait for the response to one before. */
  pipelined: 32,
  /** Streams of one HTTP/2 session that its client may reset before there is a response: so many at once, then so many a second. */
  resetsAtOnce: 100,
  resetsPerSecond: 10,
  /** Part of the heap that may be in use when a request comes. */
  heapInUse: 0.9,
  /** A bucket holds what may come in this time. */
  burstSeconds: 2,
  /** A reader of a stream that takes nothing for so long is gone. */
  slowReaderMs: 30_000,
  /** Live queries, and the characters of those of one credential. */
  liveQueries: 10_000,
  liveQueriesPerAddress: 2_000,
  liveQueriesPerCredential: 1_000,
  /** Of one credential, so many run at once. */
  liveRunsPerCredential: 2,
  liveCharsPerCredential: 2 * 1024 * 1024,
  /** Keys and ranges kept of what one has read: more are widened to fewer. */
  liveFacts: 128,
  /** Keys of commits that wait to be compared with what live queries have read. */
  liveChangedKeys: 4_096,
  liveHeartbeatMs: 15_000,
  passwordsWaiting: 1_000,
  longQueriesWaiting: 1_000,
  drainMs: 9_000,
} as const;
