/** Limits on exports and imports, and thresholds of storage warnings. */

/** Length of one line: a document with its envelope must fit into a query (`requestBytes`). */
export const lineChars = 8 * 1024 * 1024 - 16 * 1024;
/** How much one query of an import writes. */
export const batchDocuments = 512;
export const batchChars = 512 * 1024;
/** Size of an export's pages: `pageDocuments` documents first, then about as many documents as have `pageChars` characters. */
export const pageDocuments = 256;
export const pageDocumentsMax = 4096;
export const pageChars = 1024 * 1024;
/** How many lines of an export are digested together. */
export const digestLines = 1000;
/** How many compressed bytes are inflated at once: gzip makes at most 1,032 times as many of them. */
export const inflateBytes = 16 * 1024;
/** How often a request that was refused for the moment is sent again. The first wait is `retryMs`, and each wait is twice as long. */
export const attempts = 8;
export const retryMs = 250;
export const retryMaxMs = 8_000;
/** How many documents that would be overwritten a refusal lists. */
export const clashesTold = 20;
/** Fractions of the quota at which a warning is emitted: once each, until usage has fallen below it again. */
export const storageWarnings = [0.8, 0.9, 0.95];
/** Time between two checks of the usage, near a threshold and far from it. */
export const storageNearMs = 30_000;
export const storageFarMs = 300_000;
/** Distance from a threshold that counts as near, as a fraction of the quota. */
export const storageNear = 0.1;
