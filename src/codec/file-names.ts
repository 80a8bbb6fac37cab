/** Names of files, as documents, queries and stored rows hold them: `file:` and 64 digits. */

const NAMED = /\bfile:[\da-f]{64}\b/g;

/** The files that a text names, each once. */
export const filesIn = (text: string): readonly string[] => [
  ...new Set(text.includes('file:') ? text.match(NAMED) : []),
];
