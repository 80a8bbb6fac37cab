/**
 * Splits text into lines at line feeds only. JSON may contain Unicode line separators, at which `readline` of newer Node versions splits
 * too.
 * @param onRest called with the beginning of an unfinished line
 */
export async function* textLines(
  pieces: AsyncIterable<string>,
  onRest: (rest: string) => unknown = () => undefined,
): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n');
    rest += first;
    for (const next of others) {
      yield rest;
      rest = next;
    }
    onRest(rest);
  }
  if (rest !== '') yield rest;
}
