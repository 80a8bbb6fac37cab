/** Limits on what a database accepts, stores and computes. Sources: spec values 12; threats (d). */

export const requestBytes = 8 * 1024 * 1024;
export const jsonDepth = 1000;
/** Depth of computed values, which may exceed that of requests: deeper ones than `jsonDepth` are not stored, than this not returned. */
export const renderDepth = 1500;
/** Longer texts are handled in parts, or by another thread, where other callers wait. */
export const longTextChars = 128 * 1024;
/** How many faults an answer lists. */
export const faults = 1_000;
export const callDepth = 200;
export const evaluationSteps = 12_000 * 50;
/** Units of work of a query, and of one call in it. A unit is about a nanosecond of a simple loop. */
export const queryWork = 3_000_000_000;
export const callWork = 100_000_000;
/** Memory that the values of a query may take, and the size of one of them. */
export const queryBytes = 64 * 1024 * 1024;
/** Memory that the rows and index entries read by a query may take: they are held until the query ends. */
export const readBytes = 256 * 1024 * 1024;
/** How much of that is fetched at once. */
export const fetchBytes = 32 * 1024 * 1024;
/** How many of the ranges that are fetched at once may bring their rows along. */
export const fetchRangesWithRows = 8;
export const answerChars = 64 * 1024 * 1024;
// How far a run that already waits for a read looks ahead for other reads that it will need.
export const prefetchElements = 16_384;
export const prefetchNeeds = 65_536;
export const pageSizeDefault = 64;
export const pageSizeMax = 100_000;
export const repeatMax = 1024;
/** Length of strings that functions make. */
export const textChars = 16 * 1024 * 1024;
export const formatWidthChars = 1024;
export const formatPrecisionDigits = 1024;
export const regexPatternChars = 1024;
export const regexInstructions = 8192;
export const regexSubjectChars = 1024 * 1024;
/** How many sets may be opened to read one set. */
export const setsMax = 100_000;
/** How many index entries and documents the sets of one query may read. */
export const scanMax = 1_000_000;
export const documentBytes = 8 * 1024 * 1024;
/** Names of schema objects, in code points. */
export const nameChars = 256;
export const indexEntryBytes = 64_000;
export const indexComponentBytes = 32_767;
export const transactionBytes = 16 * 1024 * 1024;
export const transactionDocuments = 10_000;
export const synchronousBuildDocuments = 128;
// How much one commit of the removal of expired data may remove, or read.
export const sweepStepRows = 256;
export const sweepStepBytes = 1024 * 1024;
export const historyDaysDefault = 30;
export const historyGraceMicros = 15 * 60 * 1_000_000;
export const queryTimeoutDefaultMs = 120_000;
export const queryTimeoutMaxMs = 600_000;
/** How far ahead of the clock the last-seen time of a caller may be. */
export const lastSeenAheadMicros = 60 * 1_000_000;
export const passwordBytes = 72;
export const hashCostDefault = 10;
export const hashCostMin = 4;
export const hashCostMax = 14;
/** Cost of new hashes. Hashes with a lower cost, made elsewhere, can be verified. */
export const hashCostNewMin = 10;
export const passwordFailuresPerMinute = 5;
export const passwordFailuresPerHour = 50;
/** Length of tokens made by identity providers (JWT). */
export const accessTokenChars = 8192;
/** How long before its `nbf` a token is accepted, because clocks differ. */
export const accessTokenLeewayMicros = 60 * 1_000_000;
export const logRangeMaxDays = 90;
export const blobUrlLifeMs = 3_600_000;
/** Memory for cached rows, and again as much for cached ranges. */
export const cacheBytes = 32 * 1024 * 1024;
/** Size of an answer that is stored with a verdict, or with a write that waits for one. */
export const verdictBytes = 256 * 1024;
/** How many writes of a device may be without a verdict; `outboxBytes` is the limit for the characters of their rows. */
export const outboxWrites = 10_000;
/** Characters of an app's notes on one write: its label and data. */
export const writeNoteChars = 64 * 1024;
export const outboxBytes = 50 * 1024 * 1024;
