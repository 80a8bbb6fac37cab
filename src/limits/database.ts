/** Bounds on what a database takes, stores and computes. Sources: spec values 12; threats (d). */

export const requestBytes = 8 * 1024 * 1024;
export const jsonDepth = 1000;
/** Computed values may nest deeper than a request; beyond `jsonDepth` they are not stored, beyond this not answered. */
export const renderDepth = 1500;
/** Texts of queries that are longer are parsed in time slices where others wait: so many units, or parts of a query, in each. */
export const sliceChars = 128 * 1024;
export const sliceParts = 20_000;
/** Faults that one answer tells. */
export const faults = 1_000;
export const callDepth = 200;
export const evaluationSteps = 12_000 * 50;
/** Units of work of a query, and of one call in it; a unit is about a nanosecond of a simple loop. */
export const queryWork = 3_000_000_000;
export const callWork = 100_000_000;
/** What the values of a query may take, and what one of them may weigh. */
export const queryBytes = 64 * 1024 * 1024;
/** What the rows and index entries may take that a query has read: they are held until it ends. */
export const readBytes = 256 * 1024 * 1024;
/** Of these, what is fetched at one go. */
export const fetchBytes = 32 * 1024 * 1024;
/** Ranges that bring rows along, of those fetched at one go. */
export const fetchRangesWithRows = 8;
export const answerChars = 64 * 1024 * 1024;
// How far a run that already waits for something looks ahead for what else it will need.
export const prefetchElements = 16_384;
export const prefetchNeeds = 65_536;
export const pageSizeDefault = 64;
export const pageSizeMax = 100_000;
export const repeatMax = 1024;
/** Texts that functions make. */
export const textChars = 16 * 1024 * 1024;
export const formatWidthChars = 1024;
export const formatPrecisionDigits = 1024;
export const regexPatternChars = 1024;
export const regexInstructions = 8192;
export const regexSubjectChars = 1024 * 1024;
/** Sets opened to read one. */
export const setsMax = 100_000;
/** Index entries and documents that the sets of one query may go through. */
export const scanMax = 1_000_000;
export const documentBytes = 8 * 1024 * 1024;
/** Names of schema objects, in code points. */
export const nameChars = 256;
export const indexEntryBytes = 64_000;
export const indexComponentBytes = 32_767;
export const transactionBytes = 16 * 1024 * 1024;
export const transactionDocuments = 10_000;
export const synchronousBuildDocuments = 128;
// What one commit of the removal of expired data may remove, or read.
export const sweepStepRows = 256;
export const sweepStepBytes = 1024 * 1024;
export const historyDaysDefault = 30;
export const historyGraceMicros = 15 * 60 * 1_000_000;
export const queryTimeoutDefaultMs = 120_000;
export const queryTimeoutMaxMs = 600_000;
/** How far beyond the clock a caller may claim to have seen. */
export const lastSeenAheadMicros = 60 * 1_000_000;
export const passwordBytes = 72;
export const hashCostDefault = 10;
export const hashCostMin = 4;
export const hashCostMax = 14;
/** Of new hashes; cheaper ones, made elsewhere, are read. */
export const hashCostNewMin = 10;
export const passwordFailuresPerMinute = 5;
export const passwordFailuresPerHour = 50;
/** Tokens made by others (JWT). */
export const accessTokenChars = 8192;
/** How much earlier than its `nbf` a token is taken: clocks differ. */
export const accessTokenLeewayMicros = 60 * 1_000_000;
export const logRangeMaxDays = 90;
export const blobUrlLifeMs = 3_600_000;
/** Rows kept in memory, and again ranges. */
export const cacheBytes = 32 * 1024 * 1024;
/** Of an answer that is kept with a verdict, or with a write that waits for one. */
export const verdictBytes = 256 * 1024;
/** Writes of a device without a verdict, and the characters of their rows. */
export const outboxWrites = 10_000;
/** Characters that an app says of one write: its label and data. */
export const writeNoteChars = 64 * 1024;
export const outboxBytes = 50 * 1024 * 1024;
