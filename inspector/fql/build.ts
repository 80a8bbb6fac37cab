/**
 * Turns a typed query, `Map(Paginate(…), x => Get(x))`, into an expression. The text is a small part of JavaScript, which is parsed and
 * never executed: calls of builders, literals, arrays, objects, and arrow functions, which become lambdas.
 */
import { Expr, q, type Arg } from '../../src/index.ts';
import { SyntaxProblem, tokenize, type Token } from './tokens.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Built {
  readonly expression: Expr;
  /** Returns the part of the text at a position in the query, as faults name it; the whole text if that is not known. */
  locate(position: readonly (string | number)[]): Span;
}

type Builder = (...args: readonly unknown[]) => Expr;
const builders = q as unknown as Readonly<Record<string, Builder>>;

export const builderNames: readonly string[] = Object.keys(builders).sort();

/** @throws SyntaxProblem with the position in the text */
export function build(source: string): Built {
  const reader = new Reader(source);
  const value = reader.readWhole();
  const expression = value instanceof Expr ? value : q.Let({}, value as Arg);
  return { expression, locate: (position) => reader.locate(value, position) };
}

class Reader {
  private readonly tokens: readonly Token[];
  private readonly spans = new WeakMap<object, Span>();
  private readonly variables: string[] = [];
  private readonly whole: Span;
  private at = 0;

  constructor(source: string) {
    this.tokens = tokenize(source);
    this.whole = { start: 0, end: source.length };
  }

  readWhole(): unknown {
    if (this.peek().kind === 'end') throw new SyntaxProblem('Type a query first.', this.peek());
    const value = this.readValue();
    this.skip(';');
    if (this.peek().kind !== 'end')
      this.fail('Only one query can be run. Combine several with Do(…)');
    return value;
  }

  locate(root: unknown, position: readonly (string | number)[]): Span {
    let found = this.whole;
    let node = root;
    for (const step of position) {
      node = member(node, step);
      const span = typeof node === 'object' && node !== null ? this.spans.get(node) : undefined;
      if (span) found = span;
    }
    return found;
  }

  private peek(): Token {
    const token = this.tokens[this.at] ?? this.tokens.at(-1);
    if (!token) throw new Error('The list of tokens has no end token.');
    return token;
  }

  private take(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }

  private skip(mark: string): boolean {
    const isThere = this.peek().kind === 'mark' && this.peek().text === mark;
    if (isThere) this.at++;
    return isThere;
  }

  private expect(mark: string, end?: string): void {
    if (this.skip(mark)) return;
    this.fail(`Expected “${mark}”${end === undefined ? '' : ` or “${end}”`}`);
  }

  private fail(message: string, token = this.peek()): never {
    const isEnd = token.kind === 'end';
    throw new SyntaxProblem(isEnd ? `${message}, but the query ends here` : message, token);
  }

  private readValue(): unknown {
    const { start } = this.peek();
    const value = this.readBare();
    if (typeof value === 'object' && value !== null) {
      this.spans.set(value, { start, end: this.tokens[this.at - 1]?.end ?? start });
    }
    return value;
  }

  private readBare(): unknown {
    const token = this.peek();
    switch (token.kind) {
      case 'string':
        return this.take().text;
      case 'number':
        return readNumber(this.take());
      case 'name':
        return this.readName();
      case 'end':
        return this.fail('Expected a value');
      case 'mark':
        break;
    }
    if (token.text === '[') return this.readList('[', ']');
    if (token.text === '{') return this.readObject();
    if (token.text === '(') return this.readParentheses();
    return this.fail(`Unexpected ${token.text}`);
  }

  private readName(): unknown {
    const name = this.take();
    if (this.skip('=>')) return this.readLambda([name.text]);
    switch (name.text) {
      case 'true':
      case 'false':
        return name.text === 'true';
      case 'null':
        return null;
      case 'q':
        if (!this.skip('.')) break;
        return this.readCall(this.take());
    }
    if (this.peek().text === '(' && this.peek().kind === 'mark') return this.readCall(name);
    if (this.variables.includes(name.text)) return q.Var(name.text);
    return this.fail(`Unknown name ${name.text}. Strings need quotes.`, name);
  }

  private readCall(name: Token): unknown {
    if (!Object.hasOwn(builders, name.text)) this.fail(unknownBuilder(name.text), name);
    const args = this.readList('(', ')');
    try {
      return builders[name.text]?.(...args);
    } catch (error) {
      // The builder refuses its arguments, for instance because there are too many.
      return this.fail(error instanceof Error ? error.message : String(error), name);
    }
  }

  private readList(open: string, close: string): unknown[] {
    this.expect(open);
    const values: unknown[] = [];
    while (!this.skip(close)) {
      values.push(this.readValue());
      if (this.skip(close)) break;
      this.expect(',', close);
    }
    return values;
  }

  private readObject(): Record<string, unknown> {
    this.expect('{');
    const members: [string, unknown][] = [];
    while (!this.skip('}')) {
      const key = this.take();
      if (key.kind === 'mark' || key.kind === 'end') this.fail('Expected a name', key);
      const isShort = key.kind === 'name' && [',', '}'].includes(this.peek().text);
      if (!isShort) this.expect(':');
      members.push([key.text, isShort ? this.readShort(key) : this.readValue()]);
      if (this.skip('}')) break;
      this.expect(',', '}');
    }
    return Object.fromEntries(members);
  }

  private readShort(key: Token): Expr {
    if (this.variables.includes(key.text)) return q.Var(key.text);
    return this.fail(`Unknown variable ${key.text}`, key);
  }

  /** Reads either a lambda with its parameters, or a value in parentheses. */
  private readParentheses(): unknown {
    const start = this.at;
    const names: string[] = [];
    this.expect('(');
    while (this.peek().kind === 'name') {
      names.push(this.take().text);
      if (!this.skip(',')) break;
    }
    if (names.length > 0 && this.skip(')') && this.skip('=>')) return this.readLambda(names);
    this.at = start + 1;
    const value = this.readValue();
    this.expect(')');
    return value;
  }

  private readLambda(names: readonly string[]): Expr {
    this.variables.push(...names);
    try {
      const body = this.readValue() as Arg;
      return q.Lambda(names.length === 1 ? (names[0] ?? '') : names, body);
    } finally {
      this.variables.length -= names.length;
    }
  }
}

function readNumber(token: Token): number | bigint {
  const isInteger = /^-?\d+n?$/.test(token.text);
  if (!isInteger) return Number(token.text);
  const value = BigInt(token.text.replace('n', ''));
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function unknownBuilder(name: string): string {
  const like = builderNames.find((each) => each.toLowerCase() === name.toLowerCase());
  return like ? `Unknown function ${name}. Did you mean ${like}?` : `Unknown function ${name}`;
}

/** Follows one step of a position into the wire form. For an expression, the step is taken in its content. */
function member(node: unknown, step: string | number): unknown {
  const inner = node instanceof Expr ? node.raw : node;
  return typeof inner === 'object' && inner !== null
    ? (inner as Readonly<Record<string | number, unknown>>)[step]
    : undefined;
}
