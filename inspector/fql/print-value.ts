/** Prints a result as it could be typed, on several lines. */
import { Expr } from '../../src/index.ts';

const WIDTH = 76;
const STEP = '  ';
const PLAIN_NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

export const printValue = (value: unknown, indent = ''): string => {
  const short = printShort(value);
  if (short.length + indent.length <= WIDTH || !isNested(value)) return short;
  const inner = indent + STEP;
  const lines = Array.isArray(value)
    ? value.map((each) => printValue(each, inner))
    : Object.entries(value).map(([key, each]) => `${name(key)}: ${printValue(each, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.map((line) => inner + line).join(',\n')}\n${indent}${close}`;
};

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Expr);

function printShort(value: unknown): string {
  if (value instanceof Expr) return value.toFQL();
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(printShort).join(', ')}]`;
  if (!isNested(value)) return JSON.stringify(value) ?? 'undefined';
  const members = Object.entries(value).map(([key, each]) => `${name(key)}: ${printShort(each)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const name = (key: string): string => (PLAIN_NAME.test(key) ? key : JSON.stringify(key));
