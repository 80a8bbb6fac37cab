/** Bounds on what a hub and its devices say to each other. Sources: threats (d). */

export const pushItems = 100;
/** Characters of all queries of one push. */
export const pushChars = 4 * 1024 * 1024;
export const idsPerItem = 10_000;
/** What a pull may ask for at most, about. */
export const pullBytes = 4 * 1024 * 1024;
/** Commits looked at in one pull, documents that they changed, and rows that its pages go through. */
export const pullCommits = 20_000;
export const pullChanges = 1_000;
export const pullRows = 20_000;
/** So long the page of a pull may take at one go: others wait meanwhile. */
export const pageMicros = 50_000;
/** Likewise a check, which goes on by itself. */
export const checkMicros = 5_000;
export const pullVerdicts = 200;
export const pullVerdictChars = 1024 * 1024;
/** Versions of one document looked at to know whether the caller has seen it. */
export const pullVersions = 16;
/** Documents of a set counted at most, to tell how many there are. */
export const countedDocuments = 100_000;
export const checkedDocuments = 20_000;
export const sets = 100;
export const partsPerSet = 64;
export const setChars = 64 * 1024;
export const refetch = 2_000;
/** Verdicts a device said it has are kept for so many writes more: a copy of it may still ask. */
export const verdictsKept = 1_000;
/** `Now()` of a write may be so far ahead of the hub. */
export const nowAheadMicros = 120 * 1_000_000;
/** So often a write may fail for no reason of its own before it is refused. */
export const writeTroubles = 3;
/** Rows and ranges that rights were found to rest on, before whole collections stand for them. */
export const scopeFacts = 200;
/** How often rights that go by the clock are looked at anew. */
export const timedCheckMicros = 5 * 60 * 1_000_000;
export const heartbeatMs = 15_000;
/** Without a sign of life for so long a stream is given up: two heartbeats, and time on the way. */
export const silenceMs = 35_000;
/** Longest message of a device on its line. */
export const lineBytes = 64 * 1024;
/** A device that comes back later compares fingerprints. */
export const changesKeptMicros = 30 * 86_400 * 1_000_000;
export const pruneRows = 500;
/** Devices of one person that the hub has met within `devicesCountedMicros`. Another one is told that there are too many. */
export const devicesPerPerson = 200;
export const devicesCountedMicros = 30 * 86_400 * 1_000_000;
/** A device that was not met for so long is forgotten, and what it wrote before then is refused: the hub does not know any more whether it was made. */
export const devicesKeptMicros = 365 * 86_400 * 1_000_000;
/** Pieces in which a file is stored and sent. */
export const fileChunkBytes = 1024 * 1024;
export const fileBytes = 1024 * 1024 * 1024;
/** Documents with files that a verdict names, and files of each. */
export const filesInVerdict = 1_000;
/** What no document refers to is removed after so long: a write that refers to it may be on its way. */
export const filesKeptMs = 86_400 * 1000;
