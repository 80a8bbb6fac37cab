/** Removes passwords, secrets, hashes and tokens from everything that is shown, whatever a query returns. */
import { Expr } from '../src/index.ts';
import { printValue } from './fql/print-value.ts';

const HIDDEN = '***';

/** The same patterns as in the engine, which hides them in the query log. */
const SECRET_TEXTS =
  /\b(?:fn[A-F][\w-]{20,}|burrow-(?:root|sync)-[\w-]+|kqnP[\w-]{20,}|k6p[\w-]{20,}|ey(?<!\bey[\w-]*?ey)[\w-]{8,}\.[\w.-]+)|\$2[abxy]?\$\d\d\$[./\w]{20,}|\b(?:basic|bearer)\s+[\w+/=.:~-]+/gi;

const SECRET_NAME = /passw|passphrase|passcode|^pwd?$|secret|bearer|authorization|^hash|token$/i;

export const hideSecretTexts = (text: string): string => text.replace(SECRET_TEXTS, HIDDEN);

/** Whether a typed text may contain a password or a secret. */
export const mayHoldSecret = (text: string): boolean =>
  /passw|passphrase|passcode|secret|Login|Identify|Credentials/i.test(text) ||
  hideSecretTexts(text) !== text;

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null || value instanceof Expr) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRET_NAME.test(name) && isText(member) ? HIDDEN : withoutSecrets(member),
    ]),
  );
}

/** Prints a value as FQL, without secrets. */
export const shownValue = (value: unknown): string =>
  hideSecretTexts(printValue(withoutSecrets(value)));

/** Prints a query in wire form as FQL, without secrets. */
export function shownQuery(wire: string | undefined): string {
  if (wire === undefined || wire === '') return '(not kept)';
  try {
    return hideSecretTexts(new Expr(JSON.parse(wire)).toFQL());
  } catch {
    return hideSecretTexts(wire);
  }
}
