/**
 * For texts that grow by millions of small parts. JavaScript engines keep a concatenated text as a tree until a
 * character of it is read. Such a tree takes ten times the memory of its text and survives into the old generation,
 * so the text is flattened each time it has grown by this many characters.
 */
export const PIECE_CHARS = 4096;

/** The same text, flattened: reading a character does that. */
export const flat = (text: string): string => (text.charCodeAt(0) >= 0 ? text : '');
