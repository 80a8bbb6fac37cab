/** Limits on the messages between a hub and its devices. Sources: threats (d). */

export const pushItems = 100;
/** Characters of all queries in a push. */
export const pushChars = 4 * 1024 * 1024;
export const idsPerItem = 10_000;
/** Approximate size that a pull may ask for. */
export const pullBytes = 4 * 1024 * 1024;
/** For one pull: commits that are read, documents that they changed, and rows that its pages read. */
export const pullCommits = 20_000;
export const pullChanges = 1_000;
export const pullRows = 20_000;
/** How long a pull may read pages at a stretch: other callers wait during that time. */
export const pageMicros = 50_000;
/** The same for a check, which then continues in another slice. */
export const checkMicros = 5_000;
export const pullVerdicts = 200;
export const pullVerdictChars = 1024 * 1024;
/** How many versions of a document are read to find out whether the caller has seen it. */
export const pullVersions = 16;
/** How many documents of a set are counted at most, to report the set's size. */
export const countedDocuments = 100_000;
export const checkedDocuments = 20_000;
export const sets = 100;
export const partsPerSet = 64;
export const setChars = 64 * 1024;
export const refetch = 2_000;
/** For how many further writes a verdict is kept after the device has received it: a copy of the device may still ask for it. */
export const verdictsKept = 1_000;
/** How far ahead of the hub's clock the `Now()` of a write may be. */
export const nowAheadMicros = 120 * 1_000_000;
/** How often a write may fail for reasons outside of it before it is refused. */
export const writeTroubles = 3;
/** How many rows and ranges that rights depend on are recorded; beyond that, whole collections are. */
export const scopeFacts = 200;
/** How often rights that depend on the time are checked again. */
export const timedCheckMicros = 5 * 60 * 1_000_000;
export const heartbeatMs = 15_000;
/** A stream is given up after this time without a message: two heartbeats, and time for transmission. */
export const silenceMs = 35_000;
/** Longest WebSocket message of a device. */
export const lineBytes = 64 * 1024;
/** How long changes are kept. A device that comes back later compares fingerprints. */
export const changesKeptMicros = 30 * 86_400 * 1_000_000;
export const pruneRows = 500;
/** How many devices of a person may have contacted the hub within `devicesCountedMicros`. A further device is refused. */
export const devicesPerPerson = 200;
export const devicesCountedMicros = 30 * 86_400 * 1_000_000;
/**
 * A device that has not contacted the hub for this long is forgotten. Writes that it made before are refused, because the hub no longer
 * knows whether it has executed them.
 */
export const devicesKeptMicros = 365 * 86_400 * 1_000_000;
/** Size of the chunks in which a file is stored and sent. */
export const fileChunkBytes = 1024 * 1024;
export const fileBytes = 1024 * 1024 * 1024;
/** How many documents with files a verdict names, and how many files of each. */
export const filesInVerdict = 1_000;
/** A file that no document refers to is removed after this time, because a write that refers to it may be on its way. */
export const filesKeptMs = 86_400 * 1000;
/** Bytes of a body that the slowest supported connection transfers in a millisecond: hub and device wait longer for longer bodies. */
export const bodyBytesPerMs = 8;
