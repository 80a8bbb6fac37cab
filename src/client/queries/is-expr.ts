/** Of this package, another copy of it or the original driver. What was read from a document has no functions, whatever its members say. */
export const isExpr = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' &&
  value !== null &&
  '_isFaunaExpr' in value &&
  'toJSON' in value &&
  typeof value.toJSON === 'function';
