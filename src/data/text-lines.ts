/**
 * A line feed ends a line, and nothing else: JSON may hold the separators of Unicode, at which `readline` splits too in newer versions of
 * Node.
 * @param onRest called with what there is of a line that goes on
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
