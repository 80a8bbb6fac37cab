/** Indents JSON text. It works on the text and does not parse it, so numbers keep all their digits. */

const STEP = '  ';
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Characters of the result between two pauses. */
const SLICE_CHARS = 64 * 1024;

export const prettyJson = (text: string): string => [...prettyParts(text)].join('');

/** For long texts: pauses between slices. */
export async function prettyJsonInSlices(
  text: string,
  pause: () => Promise<void>,
): Promise<string> {
  const parts: string[] = [];
  for (const part of prettyParts(text)) {
    parts.push(part);
    await pause();
  }
  return parts.join('');
}

function* prettyParts(text: string): Generator<string> {
  let part = '';
  let indent = '\n';
  let before = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const isClose = token === '}' || token === ']';
    if (isClose) indent = indent.slice(0, -STEP.length);
    if (before === '{' || before === '[') part += isClose ? '' : indent;
    else if (isClose || before === ',') part += indent;
    part += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') indent += STEP;
    before = token;
    if (part.length < SLICE_CHARS) continue;
    yield part;
    part = '';
  }
  yield part;
}
