/**
 * Parses regular expressions in the dialect of Java, as far as they can be matched in linear time: without
 * back-references, look-around, and possessive or atomic groups. Spec: functions 0, "Regex".
 */
import { ClassBuilder, type CaseMode } from './class-builder.ts';
import { CharSet, EMPTY, PatternError, type Assertion, type RegexNode } from './node.ts';
import { parseClass } from './parse-class.ts';
import { PatternReader } from './pattern-reader.ts';
import { DOT, isVerticalSpace, predefinedTest } from './predefined.ts';

export interface ParsedPattern {
  readonly node: RegexNode;
  /** Number of capturing groups, not counting the whole match. */
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
}

/** @throws PatternError */
export function parsePattern(pattern: string): ParsedPattern {
  const parser = new Parser(pattern);
  return { node: parser.whole(), groupCount: parser.groupCount, groupNames: parser.groupNames };
}

interface Flags {
  readonly i: boolean;
  readonly d: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly u: boolean;
  readonly x: boolean;
  readonly U: boolean;
}
const NO_FLAGS: Flags = { i: false, d: false, m: false, s: false, u: false, x: false, U: false };

const isFlag = (letter: string): letter is keyof Flags => Object.hasOwn(NO_FLAGS, letter);

const GROUP_NAME = /^[a-zA-Z][a-zA-Z0-9]*$/;
const REPEAT_MAX = 2 ** 31 - 1;
const CARRIAGE_RETURN = 0x0d;
const NEWLINE = 0x0a;

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'start',
  z: 'end',
  G: 'last match',
};

/** `\R`: CR LF is preferred as a single line break, but may match as two if the rest of the pattern requires it. */
const LINE_BREAK: RegexNode = {
  kind: 'choice',
  items: [
    {
      kind: 'sequence',
      items: [
        { kind: 'char', code: CARRIAGE_RETURN },
        { kind: 'char', code: NEWLINE },
      ],
    },
    { kind: 'set', set: new CharSet(isVerticalSpace, 1) },
  ],
};

class Parser {
  groupCount = 0;
  readonly groupNames = new Map<string, number>();
  private readonly reader: PatternReader;
  private flags = NO_FLAGS;

  constructor(pattern: string) {
    this.reader = new PatternReader(pattern);
  }

  whole(): RegexNode {
    const node = this.choice();
    if (!this.reader.isAtEnd) throw new PatternError('unmatched )');
    return node;
  }

  private choice(): RegexNode {
    const items = [this.sequence()];
    while (this.reader.take('|')) items.push(this.sequence());
    return items.length === 1 ? (items[0] ?? EMPTY) : { kind: 'choice', items };
  }

  private sequence(): RegexNode {
    const items: RegexNode[] = [];
    while (!this.reader.isAtEnd && this.reader.peek() !== '|' && this.reader.peek() !== ')') {
      const item = this.atom();
      if (item) items.push(this.repeated(item));
    }
    return items.length === 1 ? (items[0] ?? EMPTY) : { kind: 'sequence', items };
  }

  /** Returns undefined for a group that only sets flags: nothing can be repeated there. */
  private atom(): RegexNode | undefined {
    const { reader } = this;
    const sign = reader.peek();
    // A second count after a count repeats an empty item.
    if (sign === '{') return EMPTY;
    if (sign === '*' || sign === '+' || sign === '?') throw new PatternError(`dangling ${sign}`);
    if (reader.take('(')) return this.group();
    if (reader.take('[')) return { kind: 'set', set: parseClass(reader, this.classFlags()) };
    if (reader.take('\\')) return this.escape();
    if (reader.take('.')) return this.dot();
    if (reader.take('^')) return this.lineStart();
    if (reader.take('$')) return { kind: 'assert', assertion: this.lineEnd() };
    return this.literal(reader.next());
  }

  private classFlags() {
    return {
      caseMode: this.caseMode(),
      ignoreCase: this.flags.i,
      unicodeClasses: this.flags.U,
    } as const;
  }

  private caseMode(): CaseMode {
    if (!this.flags.i) return 'exact';
    return this.flags.u ? 'unicode' : 'ascii';
  }

  private literal(code: number): RegexNode {
    const mode = this.caseMode();
    if (mode === 'exact') return { kind: 'char', code };
    const builder = new ClassBuilder();
    builder.addCode(code, mode);
    return { kind: 'set', set: builder.build() };
  }

  private dot(): RegexNode {
    const test = this.flags.s ? DOT.any : this.flags.d ? DOT.newline : DOT.line;
    return { kind: 'set', set: new CharSet(test, 1) };
  }

  private lineStart(): RegexNode {
    if (!this.flags.m) return { kind: 'assert', assertion: 'start' };
    return { kind: 'assert', assertion: this.flags.d ? 'newline start' : 'line start' };
  }

  private lineEnd(): Assertion {
    if (this.flags.m) return this.flags.d ? 'newline end' : 'line end';
    return this.flags.d ? 'end or last newline' : 'end or last terminator';
  }

  private escape(): RegexNode {
    const { reader, flags } = this;
    const letter = reader.nextEscaped();
    const assertion = Object.hasOwn(ASSERTIONS, letter) ? ASSERTIONS[letter] : undefined;
    if (assertion) return { kind: 'assert', assertion };
    if (letter === 'Z') {
      return {
        kind: 'assert',
        assertion: flags.d ? 'end or last newline' : 'end or last terminator',
      };
    }
    if (letter === 'b' || letter === 'B') return this.boundary(letter);
    if (letter === 'R') return LINE_BREAK;
    const test = predefinedTest(letter, reader, this.classFlags());
    if (!test) return this.literal(reader.escapedCode(letter));
    const builder = new ClassBuilder();
    builder.addTest(test);
    return { kind: 'set', set: builder.build() };
  }

  private boundary(letter: string): RegexNode {
    if (letter === 'b' && this.reader.takeAll('{g}')) throw new PatternError('no grapheme rules');
    const { U } = this.flags;
    if (letter === 'b') return { kind: 'assert', assertion: U ? 'unicode boundary' : 'boundary' };
    return { kind: 'assert', assertion: U ? 'no unicode boundary' : 'no boundary' };
  }

  // --- groups -------------------------------------------------------------------------------------

  private group(): RegexNode | undefined {
    const { reader, flags } = this;
    if (!reader.takeAll('?')) return this.capture(undefined);
    if (reader.takeAll(':')) return this.inside(flags);
    if (reader.takeAll('<')) {
      const name = reader.until('>');
      if (!GROUP_NAME.test(name)) throw new PatternError('no group name');
      if (this.groupNames.has(name)) throw new PatternError('group name twice');
      return this.capture(name);
    }
    const changed = this.readFlags();
    if (reader.takeAll(':')) {
      this.setFlags(changed);
      return this.inside(flags);
    }
    if (!reader.takeAll(')')) throw new PatternError('unknown group');
    this.setFlags(changed);
    return undefined;
  }

  private capture(name: string | undefined): RegexNode {
    this.groupCount += 1;
    const number = this.groupCount;
    if (name !== undefined) this.groupNames.set(name, number);
    return { kind: 'group', number, item: this.inside(this.flags) };
  }

  /** Parses up to the closing parenthesis, and sets the flags to `after` there. */
  private inside(after: Flags): RegexNode {
    const node = this.choice();
    const closed = this.reader.take(')');
    this.setFlags(after);
    if (!closed) throw new PatternError('unclosed group');
    return node;
  }

  private setFlags(flags: Flags): void {
    this.flags = flags;
    this.reader.comments = flags.x;
  }

  private readFlags(): Flags {
    const changed: Record<keyof Flags, boolean> = { ...this.flags };
    let value = true;
    for (;;) {
      const letter = this.reader.peek();
      if (letter === '-' && value) value = false;
      else if (!isFlag(letter)) return changed;
      else {
        changed[letter] = value;
        // Unicode classes imply Unicode letter case.
        if (letter === 'U' && value) changed.u = true;
      }
      this.reader.take(letter);
    }
  }

  // --- repetition ---------------------------------------------------------------------------------

  private repeated(item: RegexNode): RegexNode {
    const { reader } = this;
    const bounds = this.bounds();
    if (!bounds) return item;
    const lazy = reader.take('?');
    if (!lazy && reader.peek() === '+') throw new PatternError('possessive');
    return { kind: 'repeat', item, ...bounds, lazy };
  }

  private bounds(): { readonly min: number; readonly max: number } | undefined {
    const { reader } = this;
    if (reader.take('?')) return { min: 0, max: 1 };
    if (reader.take('*')) return { min: 0, max: Infinity };
    if (reader.take('+')) return { min: 1, max: Infinity };
    return reader.take('{') ? this.counts() : undefined;
  }

  private counts(): { readonly min: number; readonly max: number } {
    const { reader } = this;
    const least = reader.digits();
    if (least === '') throw new PatternError('no count');
    const min = Number(least);
    let max = min;
    if (reader.takeAll(',')) {
      const most = reader.digits();
      max = most === '' ? Infinity : Number(most);
    }
    if (!reader.takeAll('}')) throw new PatternError('unclosed count');
    if (min > REPEAT_MAX || (max > REPEAT_MAX && max !== Infinity) || max < min) {
      throw new PatternError('counts out of range');
    }
    return { min, max };
  }
}
