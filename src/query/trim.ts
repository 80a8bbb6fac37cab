/** Whether Java's `String.trim` removes the code unit: spaces and control characters, but no other white space. */
const isTrimmed = (unit: number): boolean => unit <= 0x20;

/** The text without spaces and control characters at both ends. A no-break space stays. Spec: values 4. */
export function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isTrimmed(text.charCodeAt(start))) start += 1;
  while (end > start && isTrimmed(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
