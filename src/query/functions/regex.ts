/** Functions that apply regular expressions to texts. Spec: functions 1.8. */
import { fail } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Value } from '../../values/value.ts';
import {
  boolean,
  integer,
  optional,
  param,
  positionAt,
  refuseArgument,
  string,
  wrongType,
} from '../casts.ts';
import { reading } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { ArgumentPath, Cast, FunctionRow } from '../function-row.ts';
import { compileRegex, findMatches, type Regex } from '../regex/regex.ts';
import { expand, expandedSize, highestGroup, parseReplacement } from '../regex/replacement.ts';
import { Subject } from '../regex/subject.ts';
import { refuseBound, requireTextSize } from './bounds.ts';
import { searchStart } from './code-points.ts';

/** A String that is a valid regular expression. */
export const regex: Cast<Regex> = (value, where) => {
  if (typeof value !== 'string') return wrongType('String', value, where);
  return compileRegex(value) ?? refusePattern(value, where);
};

const refusePattern = (pattern: string, where: ArgumentPath): never => {
  const shown =
    pattern.length > LIMITS.regexPatternChars
      ? `${pattern.slice(0, LIMITS.regexPatternChars)}…`
      : pattern;
  const description = `Search pattern /${shown}/ is not a valid regular expression.`;
  return fail('invalid argument', positionAt(where), description);
};

/** Units of work per step of the matcher. About 16 of its steps equal one step of the evaluator. */
const STEP_WORK = 60;

/** Work before the first step of the matcher. The steps are charged while it runs. */
const matching = (value: string, { program }: Regex): number =>
  reading(value.length) + program.length * 125;

const reportTo =
  (context: PureContext) =>
  (steps: number): void =>
    context.session.spend(steps * STEP_WORK);

function subjectOf(text: string, argument: string, context: PureContext): Subject {
  if (text.length > LIMITS.regexSubjectChars) {
    refuseBound(context, argument, `at most ${LIMITS.regexSubjectChars} characters long`);
  }
  return new Subject(text);
}

const text = param(string, 'String');
const pattern = param(regex, 'Regex');

/** Makes a regular expression that matches exactly this text. */
const regexEscape = define(
  'pure',
  { regexescape: text },
  ({ regexescape: value }) => value.length * 100,
  (args, context) => {
    const quoted = `\\Q${args.regexescape.replaceAll('\\E', '\\E\\\\E\\Q')}\\E`;
    requireTextSize(context, quoted.length);
    return quoted;
  },
);

const containsStrRegex = define(
  'pure',
  { containsstrregex: text, pattern },
  ({ containsstrregex: value, pattern: search }) => matching(value, search),
  ({ containsstrregex: value, pattern: search }, context) => {
    const subject = subjectOf(value, 'containsstrregex', context);
    return !findMatches(search, subject, { report: reportTo(context) }).next().done;
  },
);

const findStrRegex = define(
  'pure',
  {
    findstrregex: text,
    pattern,
    start: optional(integer, 'Integer'),
    num_results: optional(integer, 'Integer'),
  },
  ({ findstrregex: value, pattern: search }) => matching(value, search),
  ({ findstrregex: value, pattern: search, start = 0, num_results: wanted }, context) => {
    const whole = subjectOf(value, 'findstrregex', context);
    const from = searchStart(value, start);
    const subject = from === 0 ? whole : new Subject(whole.slice(from, whole.length));
    const most = Math.min(Number(wanted ?? LIMITS.repeatMax), LIMITS.repeatMax);
    const results: Value[] = [];
    if (most <= 0) return results;
    const { memory } = context.session;
    for (const slots of findMatches(search, subject, { report: reportTo(context) })) {
      const [first = 0, end = 0] = slots;
      memory.take(MATCH_COST + end - first);
      context.session.spend(1_000 + reading(end - first));

      results.push(matchObject(subject, first, end, from));
      if (results.length >= most) break;
    }
    return results;
  },
);

/** Bytes of an object with three members. */
const MATCH_COST = 256;

/** `end` is the index of the last code point of the match. An empty match ends where it starts. */
const matchObject = (subject: Subject, start: number, end: number, offset: number): Value =>
  new Map<string, Value>([
    ['start', offset + start],
    ['end', offset + Math.max(start, end - 1)],
    ['data', subject.slice(start, end)],
  ]);

const replaceStrRegex = define(
  'pure',
  { replacestrregex: text, pattern, replace: text, first: optional(boolean, 'Boolean') },
  ({ replacestrregex: value, pattern: search, replace }) =>
    matching(value, search) + replace.length * 400,
  ({ replacestrregex: value, pattern: search, replace, first = false }, context) => {
    const subject = subjectOf(value, 'replacestrregex', context);
    const replacement = parseReplacement(replace, search);
    const groups = replacement ? highestGroup(replacement) : 0;
    let result = '';
    let done = 0;
    for (const slots of findMatches(search, subject, { groups, report: reportTo(context) })) {
      const [start = 0, end = 0] = slots;
      // An invalid replacement is a fault only if something is to be replaced.
      if (!replacement) return refuseReplacement(replace, context);
      const size = expandedSize(replacement, slots);
      requireTextSize(context, result.length + start - done + size);
      context.session.spend((1 + replacement.length) * 1_000 + reading(start - done + size));

      result += subject.slice(done, start) + expand(replacement, slots, subject);
      done = end;
      if (first) break;
    }
    return result + subject.slice(done, subject.length);
  },
);

const refuseReplacement = (replacement: string, context: PureContext): never =>
  refuseArgument(
    context,
    'replace',
    `Replacement '${replacement}' is not valid for the search pattern.`,
  );

export const regexRows: readonly FunctionRow[] = [
  regexEscape,
  containsStrRegex,
  findStrRegex,
  replaceStrRegex,
];
