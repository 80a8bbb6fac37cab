/**
 * Parses character classes in brackets: unions of code points, ranges, escapes and classes, and intersections with
 * `&&`.
 */
import { ClassBuilder, complement, intersection, type CaseMode } from './class-builder.ts';
import { PatternError, type CharSet } from './node.ts';
import type { PatternReader } from './pattern-reader.ts';
import { predefinedTest } from './predefined.ts';
import type { PropertyFlags } from './properties.ts';

export interface ClassFlags extends PropertyFlags {
  readonly caseMode: CaseMode;
}

/** Parses a class, including its closing bracket. The opening bracket has been read. */
export function parseClass(reader: PatternReader, flags: ClassFlags): CharSet {
  const negated = reader.take('^');
  const set = parseOperands(reader, flags);
  if (!reader.take(']')) throw new PatternError('unclosed class');
  return negated ? complement(set) : set;
}

function parseOperands(reader: PatternReader, flags: ClassFlags): CharSet {
  let builder = new ClassBuilder();
  for (;;) {
    if (reader.isAtEnd) throw new PatternError('unclosed class');
    if (reader.peek() === ']' && !builder.isEmpty) return builder.build();
    if (reader.takeAll('&&')) builder = cut(builder, parseCut(reader, flags));
    else addItem(reader, flags, builder);
  }
}

/** Intersects the operands of `&&`. An empty operand on one side changes nothing. */
function cut(left: ClassBuilder, right: CharSet | undefined): ClassBuilder {
  if (!right && left.isEmpty) throw new PatternError('empty operand');
  if (!right) return left;
  const builder = new ClassBuilder();
  builder.addSet(left.isEmpty ? right : intersection(left.build(), right));
  return builder;
}

/** Parses the right operand of `&&`: bracketed classes, or everything up to the end, which may contain further `&&`. */
function parseCut(reader: PatternReader, flags: ClassFlags): CharSet | undefined {
  const builder = new ClassBuilder();
  while (!reader.isAtEnd && reader.peek() !== ']' && reader.peek() !== '&') {
    if (reader.take('[')) builder.addSet(parseClass(reader, flags));
    else builder.addSet(parseOperands(reader, flags));
  }
  return builder.isEmpty ? undefined : builder.build();
}

function addItem(reader: PatternReader, flags: ClassFlags, builder: ClassBuilder): void {
  if (reader.take('[')) {
    builder.addSet(parseClass(reader, flags));
    return;
  }
  const isEscape = reader.take('\\');
  const letter = isEscape ? reader.nextEscaped() : '';
  // Before a dash `\v` is a vertical tab, which was its meaning before it became a class.
  const isTab = letter === 'v' && reader.peek() === '-';
  const test = isEscape && !isTab ? predefinedTest(letter, reader, flags) : undefined;
  if (test) {
    builder.addTest(test);
    return;
  }
  const from = isTab ? 0x0b : isEscape ? reader.escapedCode(letter) : reader.next();
  if (reader.peek() === '-' && !isEndOfRange(reader.peekSecond())) {
    reader.take('-');
    const to = rangeEnd(reader);
    if (to < from) throw new PatternError('range out of order');
    builder.addRange(from, to, flags.caseMode);
  } else {
    builder.addCode(from, flags.caseMode);
  }
}

/** A dash before one of these is a literal dash. */
const isEndOfRange = (sign: string): boolean => sign === ']' || sign === '[';

function rangeEnd(reader: PatternReader): number {
  if (!reader.take('\\')) return reader.next();
  const letter = reader.nextEscaped();
  return letter === 'v' ? 0x0b : reader.escapedCode(letter);
}
