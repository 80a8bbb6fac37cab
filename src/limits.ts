/** Every bound on input and work, in one place. Names end in their unit. Sources: spec values 12; threats (d). */

/** bcrypt costs. Apart from the others, because the page loads no more than these. */
export const HASH_COSTS = {
  hashCostDefault: 10,
  hashCostMin: 4,
  hashCostMax: 14,
  /** Of new hashes; cheaper ones, made elsewhere, are read. */
  hashCostNewMin: 10,
} as const;

export const LIMITS = {
  requestBytes: 8 * 1024 * 1024,
  jsonDepth: 1000,
  /** Computed values may nest deeper than a request; beyond `jsonDepth` they are not stored, beyond this not answered. */
  renderDepth: 1500,
  /** Texts of queries that are longer are read in turns where others wait: so many units, or parts of a query, in each. */
  sliceChars: 128 * 1024,
  sliceParts: 20_000,
  /** Faults that one answer tells. */
  faults: 1_000,
  callDepth: 200,
  evaluationSteps: 12_000 * 50,
  /** What the values of a query may take, and what one of them may weigh. */
  queryBytes: 64 * 1024 * 1024,
  /** What the rows and index entries may take that a query has read: they are held until it ends. */
  readBytes: 256 * 1024 * 1024,
  /** Of these, what is fetched at one go. */
  fetchBytes: 32 * 1024 * 1024,
  /** Ranges that bring rows along, of those fetched at one go. */
  fetchRangesWithRows: 8,
  answerChars: 64 * 1024 * 1024,
  // How far a run that already waits for something looks ahead for what else it will need.
  prefetchElements: 16_384,
  prefetchNeeds: 65_536,
  pageSizeDefault: 64,
  pageSizeMax: 100_000,
  repeatMax: 1024,
  /** Texts that functions make. */
  textChars: 16 * 1024 * 1024,
  formatWidthChars: 1024,
  formatPrecisionDigits: 1024,
  regexPatternChars: 1024,
  regexInstructions: 8192,
  regexSubjectChars: 1024 * 1024,
  /** Sets opened to read one. */
  setsMax: 100_000,
  /** Index entries and documents that the sets of one query may go through. */
  scanMax: 1_000_000,
  documentBytes: 8 * 1024 * 1024,
  /** Names of schema objects, in code points. */
  nameChars: 256,
  indexEntryBytes: 64_000,
  indexComponentBytes: 32_767,
  transactionBytes: 16 * 1024 * 1024,
  transactionDocuments: 10_000,
  synchronousBuildDocuments: 128,
  // What one commit of the removal of expired data may remove, or read.
  sweepStepRows: 256,
  sweepStepBytes: 1024 * 1024,
  historyDaysDefault: 30,
  historyGraceMicros: 15 * 60 * 1_000_000,
  queryTimeoutDefaultMs: 120_000,
  queryTimeoutMaxMs: 600_000,
  contentionRetries: 10,
  /** How far beyond the head and the clock a caller may claim to have seen. */
  lastSeenAheadMicros: 60 * 1_000_000,
  passwordBytes: 72,
  ...HASH_COSTS,
  passwordFailuresPerMinute: 5,
  passwordFailuresPerHour: 50,
  /** Tokens made by others (JWT). */
  accessTokenChars: 8192,
  /** How much earlier than its `nbf` a token is taken: clocks differ. */
  accessTokenLeewayMicros: 60 * 1_000_000,
  logRangeMaxDays: 90,
  blobUrlLifeMs: 3_600_000,
  /** Rows kept in memory, and again ranges. */
  cacheBytes: 32 * 1024 * 1024,
  /** Of an answer that is kept with a verdict, or with a write that waits for one. */
  verdictBytes: 256 * 1024,
  /** Writes of a device without a verdict, and the characters of their rows. */
  outboxWrites: 10_000,
  outboxBytes: 50 * 1024 * 1024,
} as const;

/** Of what a hub and its devices say to each other. Sources: threats (d). */
export const SYNC_LIMITS = {
  pushItems: 100,
  /** Characters of all queries of one push. */
  pushChars: 4 * 1024 * 1024,
  idsPerItem: 10_000,
  /** What a pull may ask for at most, about. */
  pullBytes: 4 * 1024 * 1024,
  /** Commits looked at in one pull, documents that they changed, and rows that its pages go through. */
  pullCommits: 20_000,
  pullChanges: 1_000,
  pullRows: 20_000,
  /** So long pages and checks may take at one go: others wait meanwhile. */
  sliceMicros: 50_000,
  pullVerdicts: 200,
  pullVerdictChars: 1024 * 1024,
  /** Versions of one document looked at to know whether the caller has seen it. */
  pullVersions: 16,
  /** Documents of a set counted at most, to tell how many there are. */
  countedDocuments: 100_000,
  checkedDocuments: 20_000,
  sets: 100,
  partsPerSet: 64,
  setChars: 64 * 1024,
  refetch: 2_000,
  /** Verdicts a device said it has are kept for so many writes more: a copy of it may still ask. */
  verdictsKept: 1_000,
  /** `Now()` of a write may be so far ahead of the hub. */
  nowAheadMicros: 120 * 1_000_000,
  /** So often a write may fail for no reason of its own before it is refused. */
  writeTroubles: 3,
  /** Rows and ranges that rights were found to rest on, before whole collections stand for them. */
  scopeFacts: 200,
  /** How often rights that go by the clock are looked at anew. */
  timedCheckMicros: 5 * 60 * 1_000_000,
  heartbeatMs: 15_000,
  /** Without a sign of life for so long a stream is given up: two heartbeats, and time on the way. */
  silenceMs: 35_000,
  /** Longest message of a device on its line. */
  lineBytes: 64 * 1024,
  /** A device that comes back later compares fingerprints. */
  changesKeptMicros: 30 * 86_400 * 1_000_000,
  pruneRows: 500,
} as const;

/** What a hub takes from the network, beside what can be set (hub/settings/settings-table.ts). Sources: threats (d). */
export const HUB_LIMITS = {
  headerBytes: 8 * 1024,
  requestLineBytes: 16 * 1024,
  headerMs: 10_000,
  requestMs: 60_000,
  keepAliveMs: 5_000,
  /** A connection over HTTP/2 on which nothing happens. */
  sessionIdleMs: 60_000,
  streamsPerSession: 128,
  /** Of a compressed body, once it is larger than `inflatedFreeBytes`. */
  inflateRatio: 20,
  inflatedFreeBytes: 64 * 1024,
  /** Bodies of all requests that are being read or answered. */
  bodyBytesInMemory: 64 * 1024 * 1024,
  bodyBytesPerAddress: 32 * 1024 * 1024,
  /** What is read of a body before its credential is checked. */
  smallBodyBytes: 64 * 1024,
  /** At least so much of a body arrives in so much time. */
  bodyWindowMs: 10_000,
  bodyWindowBytes: 1024,
  /** Answers that are not read yet; only those that are written in parts are counted. */
  answerBytesInMemory: 256 * 1024 * 1024,
  answerBytesPerCredential: 64 * 1024 * 1024,
  /** Requests of one credential that wait while as many run as may. */
  waitingPerCredential: 400,
  /** Requests of one connection over HTTP/1.1 that wait for the response to one before. */
  pipelined: 32,
  /** Streams of one HTTP/2 session that its client may reset: so many at once, then so many a second. */
  resetsAtOnce: 100,
  resetsPerSecond: 10,
  /** Part of the heap that may be in use when a request comes. */
  heapInUse: 0.9,
  /** A bucket holds what may come in this time. */
  burstSeconds: 2,
  /** A reader of a stream that takes nothing for so long is gone. */
  slowReaderMs: 30_000,
  passwordsWaiting: 1_000,
  drainMs: 9_000,
} as const;
