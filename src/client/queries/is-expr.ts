/**
 * Whether a value is an expression, of this package, of another copy of it, or of the original driver. Values read from documents contain
 * no functions, so they cannot pass for one.
 */
export const isExpr = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' &&
  value !== null &&
  '_isFaunaExpr' in value &&
  'toJSON' in value &&
  typeof value.toJSON === 'function';
