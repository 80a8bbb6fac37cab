/** The tree of a regular expression. */

/** Whether a code point is matched. */
export type CharTest = (code: number) => boolean;

export type Assertion =
  | 'start'
  | 'end'
  | 'end or last terminator'
  | 'end or last newline'
  | 'line start'
  | 'line end'
  | 'newline start'
  | 'newline end'
  | 'boundary'
  | 'no boundary'
  | 'unicode boundary'
  | 'no unicode boundary'
  | 'last match';

export type RegexNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  /** Earlier items are preferred. */
  | { readonly kind: 'choice'; readonly items: readonly RegexNode[] }
  /** `max` may be infinite. */
  | {
      readonly kind: 'repeat';
      readonly item: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
    }
  | { readonly kind: 'group'; readonly number: number; readonly item: RegexNode };

export const EMPTY: RegexNode = { kind: 'empty' };

const TABLE_SIZE = 128;

/** A set of code points. ASCII is looked up in a table that is made on first use; other code points are tested. */
export class CharSet {
  private table: Uint8Array | undefined = undefined;
  private readonly test: CharTest;
  /** The cost of a test, in steps of the matcher. */
  readonly cost: number;

  constructor(test: CharTest, cost: number) {
    this.test = test;
    this.cost = cost;
  }

  has(code: number): boolean {
    if (code >= TABLE_SIZE) return this.test(code);
    this.table ??= tableOf(this.test);
    return this.table[code] === 1;
  }
}

const tableOf = (test: CharTest): Uint8Array =>
  Uint8Array.from({ length: TABLE_SIZE }, (_, code) => (test(code) ? 1 : 0));

/** Thrown for an invalid pattern. The caller knows the pattern and reports it. */
export class PatternError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PatternError';
  }
}
