/** Finds what is being written at the caret, in a text that may be unfinished. */

const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;

/** Name of the call around the caret, or of the name at the caret: `Map` in `Map(Paginate(…), x => |`. */
export function callAt(text: string, caret: number): string | undefined {
  const open: (string | undefined)[] = [];
  let name: string | undefined;
  let at = 0;
  while (at < caret) {
    NAME.lastIndex = at;
    const [word] = NAME.exec(text) ?? [];
    if (word !== undefined) {
      name = word;
      at += word.length;
      continue;
    }
    const character = text.charAt(at);
    const end = endOfText(text, at);
    if (end > at) {
      at = end;
      continue;
    }
    if ('([{'.includes(character)) open.push(character === '(' ? name : undefined);
    else if (')]}'.includes(character)) open.pop();
    name = undefined;
    at += 1;
  }
  return name ?? open.findLast((each) => each !== undefined);
}

/**
 * Position after the string or comment that begins at `start`: beyond the end of the text if a string is not closed, and `start` if neither
 * a string nor a comment begins there.
 */
export function endOfText(text: string, start: number): number {
  const character = text.charAt(start);
  if (character === '"' || character === "'") return endOfString(text, start);
  COMMENT.lastIndex = start;
  return start + (COMMENT.exec(text)?.[0].length ?? 0);
}

/** Position after the closing quote; beyond the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== quote) at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}
