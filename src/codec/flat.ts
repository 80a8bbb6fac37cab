/**
 * A text that is built from millions of small parts is flattened each time it has grown by this many characters.
 * JavaScript engines keep a concatenated text as a tree (a rope) until one of its characters is read. Such a tree takes
 * ten times the memory of the text and survives into the old generation of the garbage collector.
 */
export const PIECE_CHARS = 4096;

/** Returns the same text, flattened: reading a character makes the engine flatten it. */
export const flat = (text: string): string => (text.charCodeAt(0) >= 0 ? text : '');
