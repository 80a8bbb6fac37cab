/** Replacement texts in Java's syntax: `$1` and `${name}` are groups, and a backslash makes the next character literal. */
import type { Regex } from './regex.ts';
import type { Slots } from './match.ts';
import type { Subject } from './subject.ts';

/** Literal texts and numbers of groups. */
export type Replacement = readonly (string | number)[];

/** Returns undefined when the text names a group that the pattern does not have, or ends within an escape. */
export function parseReplacement(text: string, regex: Regex): Replacement | undefined {
  const parts: (string | number)[] = [];
  let literal = '';
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    at += 1;
    if (char === '$') {
      const group = readGroup(text, at, regex);
      if (!group) return undefined;
      parts.push(literal, group.number);
      literal = '';
      at = group.end;
    } else if (char === '\\') {
      if (at === text.length) return undefined;
      literal += text.charAt(at);
      at += 1;
    } else {
      literal += char;
    }
  }
  return literal === '' ? parts : [...parts, literal];
}

interface GroupReference {
  readonly number: number;
  readonly end: number;
}

const NAME = /\{([a-zA-Z][a-zA-Z0-9]*)\}/y;
const DIGIT = /^[0-9]$/;

function readGroup(text: string, at: number, regex: Regex): GroupReference | undefined {
  NAME.lastIndex = at;
  const [whole = '', name = ''] = NAME.exec(text) ?? [];
  if (whole !== '') {
    const number = regex.groupNames.get(name);
    return number === undefined ? undefined : { number, end: at + whole.length };
  }
  return DIGIT.test(text.charAt(at)) ? readNumber(text, at, regex.groupCount) : undefined;
}

/** Consumes as many digits as form the number of an existing group. */
function readNumber(text: string, at: number, groupCount: number): GroupReference | undefined {
  let number = Number(text.charAt(at));
  let end = at + 1;
  if (number > groupCount) return undefined;
  while (DIGIT.test(text.charAt(end))) {
    const longer = number * 10 + Number(text.charAt(end));
    if (longer > groupCount) break;
    number = longer;
    end += 1;
  }
  return { number, end };
}

export const highestGroup = (replacement: Replacement): number =>
  replacement.reduce<number>(
    (most, part) => (typeof part === 'number' ? Math.max(most, part) : most),
    0,
  );

const groupPlace = (slots: Slots, group: number): readonly [start: number, end: number] => [
  slots[group * 2] ?? -1,
  slots[group * 2 + 1] ?? -1,
];

/** Size of the text that `expand` will make: code units of literal texts plus code points of groups. */
export const expandedSize = (replacement: Replacement, slots: Slots): number =>
  replacement.reduce<number>((size, part) => {
    if (typeof part === 'string') return size + part.length;
    const [start, end] = groupPlace(slots, part);
    return size + end - start;
  }, 0);

/** The replacement of one match. Groups that did not take part are empty. */
export const expand = (replacement: Replacement, slots: Slots, subject: Subject): string =>
  replacement
    .map((part) => {
      if (typeof part === 'string') return part;
      const [start, end] = groupPlace(slots, part);
      return start < 0 ? '' : subject.slice(start, end);
    })
    .join('');
