/**
 * Regular expressions in the dialect of Java, matched in linear time. Refused, in addition to invalid patterns:
 * back-references, look-ahead and look-behind, possessive and atomic groups, blocks (`\p{InGreek}`), identifiers
 * (`\p{javaJavaIdentifierStart}`), graphemes (`\X`) and character names (`\N{…}`).
 */
import { LIMITS } from '../../limits.ts';
import { compile, type Instruction } from './compile.ts';
import { Matcher, type Slots } from './match.ts';
import { parsePattern } from './parse-pattern.ts';
import { PatternError } from './node.ts';
import type { Subject } from './subject.ts';

export interface Regex {
  readonly program: readonly Instruction[];
  /** Number of capturing groups, not counting the whole match. */
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
}

// Queries apply the same few patterns again and again.
const CACHE_SIZE = 64;
const cache = new Map<string, Regex>();

/** Returns undefined for an invalid pattern, and for one that cannot be matched in linear time. */
export function compileRegex(pattern: string): Regex | undefined {
  const cached = cache.get(pattern);
  if (cached || pattern.length > LIMITS.regexPatternChars) return cached;
  try {
    const { node, groupCount, groupNames } = parsePattern(pattern);
    const regex = { program: compile(node), groupCount, groupNames };
    if (cache.size >= CACHE_SIZE) cache.clear();
    cache.set(pattern, regex);
    return regex;
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

export interface SearchOptions {
  /** The highest group whose position is needed. */
  readonly groups?: number;
  /** Called now and then with the number of steps since the last call. May throw to stop the search. */
  readonly report?: (steps: number) => void;
}

const ignore = (): void => undefined;

/** Yields the matches from left to right, without overlaps. They are searched lazily. */
export function* findMatches(
  regex: Regex,
  subject: Subject,
  options: SearchOptions = {},
): Generator<Slots> {
  const { groups = 0, report = ignore } = options;
  const matcher = new Matcher(regex.program, subject, 2 * groups + 2, report);
  let from = 0;
  subject.lastEnd = 0;
  try {
    while (from <= subject.length) {
      const found = matcher.find(from);
      if (!found) return;
      const [start = 0, end = 0] = found;
      subject.lastEnd = end;
      from = end === start ? end + 1 : end;
      yield found;
    }
  } finally {
    matcher.flush();
  }
}
