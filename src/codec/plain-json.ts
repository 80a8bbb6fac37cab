/** Reads JSON of others without an error: numbers as JavaScript has them. Where all digits count: json.ts. */

/** Undefined if there is no text, or it is not JSON. */
export function tryJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** None if the value is not an object. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
