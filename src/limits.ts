/** Every bound on input and work, in one place. Names end in their unit. Sources: spec values 12; threats (d). */
export const LIMITS = {
  requestBytes: 8 * 1024 * 1024,
  jsonDepth: 1000,
  /** Computed values may nest deeper than a request; beyond `jsonDepth` they are not stored, beyond this not answered. */
  renderDepth: 1500,
  callDepth: 200,
  evaluationSteps: 12_000 * 50,
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
  /** Index entries and documents that the sets of one query may go through. */
  scanMax: 1_000_000,
  documentBytes: 8 * 1024 * 1024,
  indexEntryBytes: 64_000,
  indexComponentBytes: 32_767,
  transactionBytes: 16 * 1024 * 1024,
  synchronousBuildDocuments: 128,
  historyDaysDefault: 30,
  historyGraceMicros: 15 * 60 * 1_000_000,
  queryTimeoutDefaultMs: 120_000,
  queryTimeoutMaxMs: 600_000,
  contentionRetries: 10,
  passwordBytes: 72,
  hashCostDefault: 10,
  hashCostMin: 4,
  hashCostMax: 14,
  logRangeMaxDays: 90,
  blobUrlLifeMs: 3_600_000,
  /** Rows kept in memory, and again ranges. */
  cacheBytes: 32 * 1024 * 1024,
} as const;
