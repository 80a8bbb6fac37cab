/** Splits typed text into tokens with their positions. */

export type TokenKind = 'name' | 'number' | 'string' | 'mark' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** For a string: its value, without quotes and escapes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The typed text is not a query. */
export class SyntaxProblem extends Error {
  readonly start: number;
  readonly end: number;

  constructor(message: string, { start, end }: { readonly start: number; readonly end: number }) {
    super(message);
    this.start = start;
    this.end = end;
  }
}

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const NUMBER = /-?\d+(?:n|(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y;
const MARK = /=>|\.\.\.|[()[\]{},:.;]/y;

export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  for (;;) {
    at += take(BLANK)?.length ?? 0;
    if (at >= source.length) break;
    const start = at;
    const push = (kind: TokenKind, raw: string, text = raw): void => {
      at += raw.length;
      tokens.push({ kind, text, start, end: at });
    };
    const name = take(NAME);
    const number = name === undefined ? take(NUMBER) : undefined;
    const string = take(STRING);
    const mark = take(MARK);
    if (name !== undefined) push('name', name);
    else if (number !== undefined) push('number', number);
    else if (string !== undefined) push('string', string, unquoted(string, start));
    else if (mark !== undefined) push('mark', mark);
    else throw unexpected(source, at);
  }
  tokens.push({ kind: 'end', text: '', start: at, end: at });
  return tokens;
}

function unexpected(source: string, start: number): SyntaxProblem {
  const character = String.fromCodePoint(source.codePointAt(start) ?? 0);
  if (character !== '"' && character !== "'")
    return new SyntaxProblem(`Unexpected character ${character}.`, {
      start,
      end: start + character.length,
    });
  const [line = ''] = source.slice(start).split('\n', 1);
  return new SyntaxProblem(`The string has no closing ${character}.`, {
    start,
    end: start + line.length,
  });
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
};
const ESCAPE = /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs;

function unquoted(text: string, start: number): string {
  return text.slice(1, -1).replaceAll(ESCAPE, (all, braced, four, two, other: string) => {
    const hex: unknown = braced ?? four ?? two;
    if (typeof hex !== 'string') return ESCAPES[other] ?? other;
    const code = Number.parseInt(hex, 16);
    if (code > 0x10ffff) {
      throw new SyntaxProblem(`${all} is not a valid character.`, {
        start,
        end: start + text.length,
      });
    }
    return String.fromCodePoint(code);
  });
}
