/** Whether `reason` is a `DOMException` with one of these names. */
export const isNamed = (reason: unknown, ...names: readonly string[]): boolean =>
  reason instanceof DOMException && names.includes(reason.name);
