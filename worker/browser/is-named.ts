/** Whether it is an error of the browser, of one of these names. */
export const isNamed = (reason: unknown, ...names: readonly string[]): boolean =>
  reason instanceof DOMException && names.includes(reason.name);
