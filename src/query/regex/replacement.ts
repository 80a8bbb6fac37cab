/** What a match is replaced with, as Java writes it: `$1` and `${name}` are groups, a backslash takes the next character as it is. */
import type { Regex } from './regex.ts';
import type { Slots } from './match.ts';
import type { Subject } from './subject.ts';

/** Text, or the number of a group. */
export type Replacement = readonly (string | number)[];

/** Undefined when it names a group that the pattern has not, or ends amid an escape. */
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

/** As many digits as make the number of a group that there is. */
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

/** Characters that `expand` makes, surrogate pairs counted as one. */
export const expandedSize = (replacement: Replacement, slots: Slots): number =>
  replacement.reduce<number>((size, part) => {
    if (typeof part === 'string') return size + part.length;
    const [start, end] = groupPlace(slots, part);
    return size + end - start;
  }, 0);

/** Groups that took no part are empty. */
export const expand = (replacement: Replacement, slots: Slots, subject: Subject): string =>
  replacement
    .map((part) => {
      if (typeof part === 'string') return part;
      const [start, end] = groupPlace(slots, part);
      return start < 0 ? '' : subject.slice(start, end);
    })
    .join('');
