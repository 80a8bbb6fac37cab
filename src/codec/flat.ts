/**
 * For texts that grow by millions of small parts. What is concatenated is kept as a tree until somebody looks at it: such a tree takes ten
 * times the memory of its text, and grows too old to be cheap garbage. So what has grown by this many characters is made plain.
 */
export const PIECE_CHARS = 4096;

/** The same text. To look at a character of it makes it plain. */
export const flat = (text: string): string => (text.charCodeAt(0) >= 0 ? text : '');
