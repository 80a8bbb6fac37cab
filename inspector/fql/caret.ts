/** What is being written where the caret stands, in a text that is not finished yet. */

const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;

/** The call around the caret, or the name it stands at: `Map` in `Map(Paginate(…), x => |`. */
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
    if (character === '"' || character === "'") {
      at = endOfString(text, at);
      continue;
    }
    if ('([{'.includes(character)) open.push(character === '(' ? name : undefined);
    else if (')]}'.includes(character)) open.pop();
    name = undefined;
    at += 1;
  }
  return name ?? open.findLast((each) => each !== undefined);
}

/** After the quote that ends it; the end of the text when none does. */
function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== quote) at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}
