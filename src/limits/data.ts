/** Bounds on exports, imports and warnings of storage. */

/** Of one line: a document with its envelope has to fit a query (`requestBytes`). */
export const lineChars = 8 * 1024 * 1024 - 16 * 1024;
/** What one query of an import writes. */
export const batchDocuments = 512;
export const batchChars = 512 * 1024;
/** A page of an export: so many documents at first, then as many as have about so many characters. */
export const pageDocuments = 256;
export const pageDocumentsMax = 4096;
export const pageChars = 1024 * 1024;
/** Lines of an export that are digested together. */
export const digestLines = 1000;
/** Compressed bytes that are inflated at one go: gzip makes at most 1,032 times as much of them. */
export const inflateBytes = 16 * 1024;
/** What was refused for now is asked again so often, after so long, then twice as long each time. */
export const attempts = 8;
export const retryMs = 250;
export const retryMaxMs = 8_000;
/** Documents that would be overwritten, as they are listed in a refusal. */
export const clashesTold = 20;
/** Parts of the quota in use from which a warning is due: each is told once, until usage is below it again. */
export const storageWarnings = [0.8, 0.9, 0.95];
/** Between two looks at the usage: near a threshold and far from it. */
export const storageNearMs = 30_000;
export const storageFarMs = 300_000;
/** So close to a threshold, as a part of the quota, is near. */
export const storageNear = 0.1;
