/** Exports of `documents/` for other folders: documents and their rows. */
export { fieldsOf, isExpired, keyOf, liveVersion } from './documents/documents.ts';
export { SEQUENCES } from './documents/id-sequences.ts';
export { bodyOf } from './documents/stored-values.ts';
export { allEntries, userEntries } from './documents/version-rows.ts';
