/**
 * Every limit on input and work. Names end in their unit. The tables that the browser loads are modules, so a bundle contains only the
 * limits that it uses, each where it is used.
 */
import { bodyBytesPerMs } from './limits/sync.ts';

export * as DATA_LIMITS from './limits/data.ts';
export * as LIMITS from './limits/database.ts';
export * as SYNC_LIMITS from './limits/sync.ts';

/** What a hub accepts from the network, beside limits that can be configured (hub/settings/settings-table.ts). Sources: threats (d). */
export const HUB_LIMITS = {
  headerBytes: 8 * 1024,
  requestLineBytes: 16 * 1024,
  headerMs: 10_000,
  requestMs: 60_000,
  /** A request with a body may take longer than `requestMs`: by a millisecond for each of so many bytes that have arrived. */
  bodyBytesPerMs,
  keepAliveMs: 5_000,
  /** How long a connection waits for another one to end when its address has the maximum number of connections. */
  connectionWaitMs: 10_000,
  /** After this time without activity, an HTTP/2 connection is closed. */
  sessionIdleMs: 60_000,
  /** Requests that may be open on one HTTP/2 connection, beside as many event streams as a credential may have. */
  requestsPerSession: 128,
  /** Largest ratio of a compressed body's inflated size to its size, once the inflated size exceeds `inflatedFreeBytes`. */
  inflateRatio: 20,
  inflatedFreeBytes: 64 * 1024,
  /** Size of a body that is parsed by the main thread, which serves all callers: any body except queries and pushes. */
  parsedBodyBytes: 1024 * 1024,
  /**
   * Approximate number of values in such a body, for messages of sync and live queries: parsing a value takes as long as some twenty bytes.
   */
  messageValues: 50_000,
  /** The same for bodies that this thread also makes a query of, or evaluates: the older REST routes, streams, log exports. */
  otherBodyValues: 10_000,
  /** Each of these bytes of a long body of this kind count as one more request of its caller. */
  parsedBytesPerRequest: 64 * 1024,
  /** Total size of the bodies of all requests that are being read or answered. */
  bodyBytesInMemory: 64 * 1024 * 1024,
  bodyBytesPerAddress: 32 * 1024 * 1024,
  /** How much of a body is read before its credential is checked. */
  smallBodyBytes: 64 * 1024,
  /** In each `bodyWindowMs`, at least `bodyWindowBytes` of a body must arrive. */
  bodyWindowMs: 10_000,
  bodyWindowBytes: 1024,
  /** Total size of responses that clients have not read yet: those that are written in parts and, over HTTP/2, all that are not short. */
  answerBytesInMemory: 256 * 1024 * 1024,
  answerBytesPerCredential: 64 * 1024 * 1024,
  /** How many requests of a credential may wait while its maximum number of requests are running. */
  waitingPerCredential: 400,
  /** How many requests of an HTTP/1.1 connection may wait for the response to an earlier one. */
  pipelined: 32,
  /** How many streams of an HTTP/2 session its client may reset before there is a response: at once, and then per second. */
  resetsAtOnce: 100,
  resetsPerSecond: 10,
  /** Fraction of the heap above which new requests are refused. */
  heapInUse: 0.9,
  /** Size of a rate limiter's token bucket: the requests allowed in this time. */
  burstSeconds: 2,
  /**
   * How many answers of status 429 an address gets at once, per second. Further ones are delayed: a client that is refused at once may try
   * again at once, thousands of times per second.
   */
  promptRefusalsPerSecond: 20,
  refusalDelayMs: 1_000,
  /** A client that reads nothing of a stream for this long is disconnected. */
  slowReaderMs: 30_000,
  /** Number of live queries in total; the next two limits are per address and per credential. */
  liveQueries: 10_000,
  liveQueriesPerAddress: 2_000,
  liveQueriesPerCredential: 1_000,
  /** How many live queries of a credential may run at once. */
  liveRunsPerCredential: 2,
  liveCharsPerCredential: 2 * 1024 * 1024,
  /** How many keys and ranges are recorded of what a live query has read; more are merged into fewer, wider ranges. */
  liveFacts: 128,
  /** How many changed keys of commits may wait to be compared with what live queries have read. */
  liveChangedKeys: 4_096,
  liveHeartbeatMs: 15_000,
  passwordsWaiting: 1_000,
  longQueriesWaiting: 1_000,
  drainMs: 9_000,
} as const;
