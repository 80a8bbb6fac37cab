/** `format`. Spec: functions 1.8. */
import { unreachable } from '../../errors.ts';
import { renderValue } from '../../codec/wire.ts';
import { toDouble } from '../../values/number.ts';
import { isDouble, isInteger, isKind, type Value } from '../../values/value.ts';
import {
  any,
  argumentAt,
  elementAt,
  manyOf,
  param,
  refuseArgument,
  string,
  wrongType,
} from '../casts.ts';
import { walking, reading } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { ArgumentPath, FunctionRow } from '../function-row.ts';
import type { ApiVersion } from '../session.ts';
import { upperCase } from '../unicode.ts';
import { requireTextSize } from './bounds.ts';
import { codePointLength, offsetOfCodePoint } from './code-points.ts';
import { scalarText } from './conversions.ts';
import { formatBits, formatDecimal, formatDouble } from './format-number.ts';
import { FormatError, parseFormat, type FormatPart, type Specifier } from './format-pattern.ts';
import { timeField } from './format-time.ts';

const format = define(
  'pure',
  { format: param(string, 'String'), values: param(manyOf(any), 'Any*') },
  ({ format: pattern }) => pattern.length * 4_000,
  ({ format: pattern, values }, context) => {
    const parts = partsOf(pattern, context);
    const indexes = valueIndexes(parts, values.length, context);
    let result = '';
    for (const [at, part] of parts.entries()) {
      if (typeof part === 'string') result += part;
      else result += formatPart(part, values, indexes[at] ?? 0, context);
      requireTextSize(context, result.length);
    }
    return result;
  },
);

function partsOf(pattern: string, context: PureContext): readonly FormatPart[] {
  try {
    return parseFormat(pattern);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return refuseFormat(context, `Invalid conversion format '${error.specifier}'.`);
  }
}

const refuseFormat = (context: PureContext, description: string): never =>
  refuseArgument(context, 'format', description);

/** The index of the value that each part uses. 0 for parts that use none. */
function valueIndexes(
  parts: readonly FormatPart[],
  size: number,
  context: PureContext,
): readonly number[] {
  let next = 0;
  return parts.map((part) => {
    if (typeof part === 'string' || !part.takesValue) return 0;
    if (part.index !== undefined) {
      if (part.index >= 1 && part.index <= size) return part.index - 1;
      return refuseFormat(context, 'index must be >= 1 and <= arguments size');
    }
    next += 1;
    if (next <= size) return next - 1;
    return refuseFormat(context, 'format specifiers count must be <= arguments size');
  });
}

function formatPart(
  specifier: Specifier,
  values: readonly Value[],
  index: number,
  context: PureContext,
): string {
  const where = elementAt(argumentAt(context.path, 'values'), index);
  const text = convert(specifier, values[index] ?? null, where, context);
  return justify(specifier.upper ? upperCase(text) : text, specifier);
}

function convert(
  specifier: Specifier,
  value: Value,
  where: ArgumentPath,
  context: PureContext,
): string {
  switch (specifier.conversion) {
    case 'decimal':
      return isInteger(value)
        ? formatDecimal(value, specifier)
        : wrongType('Integer', value, where);
    case 'octal':
    case 'hexadecimal':
      return isInteger(value) ? formatBits(value, specifier) : wrongType('Integer', value, where);
    case 'fixed':
    case 'scientific':
    case 'general':
      return isDouble(value)
        ? formatDouble(toDouble(value), specifier)
        : wrongType('Double', value, where);
    case 'text':
      if (typeof value === 'string') context.session.spend(reading(value.length));
      return cut(scalarText(value) ?? wrongType('String', value, where), specifier);
    case 'boolean':
      return cut(String(typeof value === 'boolean' ? value : value !== null), specifier);
    case 'time':
      return timeText(specifier, value, where);
    case 'old json':
      return cut(json(value, '2.1', context), specifier);
    case 'json':
      return cut(json(value, context.apiVersion, context), specifier);
    case 'percent':
      return '%';
    case 'newline':
      return '\n';
    default:
      return unreachable(specifier.conversion);
  }
}

function timeText(specifier: Specifier, value: Value, where: ArgumentPath): string {
  if (!isKind(value, 'time') && !isKind(value, 'date')) return wrongType('Temporal', value, where);
  return timeField(specifier.field, value) ?? wrongType('Time', value, where);
}

function json(value: Value, apiVersion: ApiVersion, context: PureContext): string {
  const { session } = context;
  session.spend(4 * walking(value, context));
  return renderValue(value, {
    names: session.names.inVersion(apiVersion),
    apiVersion,
    pendingTs: session.pendingTs,
  });
}

const cut = (text: string, { precision }: Specifier): string =>
  precision === undefined ? text : text.slice(0, offsetOfCodePoint(text, precision));

function justify(text: string, { width, flags }: Specifier): string {
  if (width === 0) return text;
  const space = ' '.repeat(Math.max(width - codePointLength(text), 0));
  return flags.has('-') ? text + space : space + text;
}

export const formatRows: readonly FunctionRow[] = [format];
