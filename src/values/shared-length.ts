/** Length of the common prefix of two texts. */
export function sharedLength(a: string, b: string): number {
  const max = Math.min(a.length, b.length);
  let at = 0;
  while (at < max && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}
