// Wraps Markdown: prose at 100 characters. Tables, code, headings and HTML are left unchanged.

export const MARKDOWN_WIDTH = 100;

const VERBATIM = /^(?:#| {0,3}\||\s*<|\s*\[[^\]]+\]:)/;
const FENCE = /^\s*(?:```|~~~)/;
const MARKER = /^(\s*(?:[-*+]|\d+[.)])\s+|\s*>\s?)/;
/** Words that would begin a list, a heading or a quote at the start of a line. */
const BEGINS_BLOCK = /^(?:[-*+>#]|\d+[.)])$/;

/** A word may contain spaces inside `code` or ![link](…), where a line must not break. */
const WORD = /(?:!?\[[^\]\n]{1,40}\]\([^)\s]*\)|`+[^`]*`+|[^\s])+/g;

/**
 * Wraps each paragraph and list item that has a line that is too long. Others are left unchanged.
 * @param {string} text
 */
export const wrapMarkdown = (text) =>
  blocksOf(text)
    .flatMap(({ isProse, lines }) => (isProse && lines.some(isTooLong) ? wrapped(lines) : lines))
    .join('\n');

/** Line numbers of prose that is too long and can be wrapped. @param {string} text */
export function longLines(text) {
  const found = [];
  let number = 0;
  for (const { isProse, lines } of blocksOf(text))
    for (const line of lines) {
      number++;
      if (isProse && isTooLong(line) && contentOf(line).match(WORD)?.length !== 1)
        found.push(number);
    }
  return found;
}

/** @param {string} line */
const isTooLong = (line) => Array.from(line).length > MARKDOWN_WIDTH;

/** @param {string} line */
const contentOf = (line) => line.slice(MARKER.exec(line)?.[0].length ?? 0);

/** @param {string} text */
function blocksOf(text) {
  /** @type {{ isProse: boolean; lines: string[] }[]} */
  const blocks = [];
  let isFenced = false;
  /** @type {string[] | undefined} */
  let open;
  for (const line of text.split('\n')) {
    const isFence = FENCE.test(line);
    const isCode = isFenced || isFence || (!open && /^ {4}/.test(line));
    if (isFence) isFenced = !isFenced;
    if (isCode || line.trim() === '' || VERBATIM.test(line)) {
      blocks.push({ isProse: false, lines: [line] });
      // The next line of prose starts a new block.
      open = undefined;
    } else if (open && !MARKER.test(line)) {
      open.push(line);
    } else {
      open = [line];
      blocks.push({ isProse: true, lines: open });
    }
  }
  return blocks;
}

/** @param {string[]} lines */
function wrapped(lines) {
  const [first = ''] = lines;
  const head = MARKER.exec(first)?.[0] ?? /^\s*/.exec(first)?.[0] ?? '';
  const indent = head.includes('>') ? head : ' '.repeat(head.length);
  const words = [first.slice(head.length), ...lines.slice(1)].join(' ').match(WORD) ?? [];
  /** @type {string[]} */
  const result = [];
  let line = head;
  let isFresh = true;
  for (const word of words) {
    const next = isFresh ? line + word : `${line} ${word}`;
    if (!isFresh && isTooLong(next) && !BEGINS_BLOCK.test(word)) {
      result.push(line);
      line = indent + word;
    } else line = next;
    isFresh = false;
  }
  return [...result, line];
}
