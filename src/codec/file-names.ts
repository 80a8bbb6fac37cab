/** Names of files as documents, queries and stored rows contain them: `file:` and 64 hexadecimal digits. */

const NAMED = /\bfile:[\da-f]{64}\b/g;

/** The file names that occur in a text, without duplicates. */
export const filesIn = (text: string): readonly string[] => [
  ...new Set(text.includes('file:') ? text.match(NAMED) : []),
];
