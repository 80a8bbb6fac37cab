/** Indents JSON text. It works on the text, so numbers keep all digits. */

const STEP = '  ';
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

export function prettyJson(text: string): string {
  let result = '';
  let indent = '\n';
  let before = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const isClose = token === '}' || token === ']';
    if (isClose) indent = indent.slice(0, -STEP.length);
    if (before === '{' || before === '[') result += isClose ? '' : indent;
    else if (isClose || before === ',') result += indent;
    result += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') indent += STEP;
    before = token;
  }
  return result;
}
