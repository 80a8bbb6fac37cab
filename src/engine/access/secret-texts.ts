/** Finds what looks like a secret in a text, to hide it in error texts and logs. */

export const HIDDEN = '***';

/** Secrets of every form that is issued or was, JSON web tokens, hashes of secrets and passwords, header values. */
const SECRET_TEXTS =
  /\b(?:fn[A-F][\w-]{20,}|burrow-root-[\w-]+|kqnP[\w-]{20,}|k6p[\w-]{20,}|ey[\w-]{8,}\.[\w.-]+)|\$\w+\$(?:\d\d\$)?[./\w-]{20,}|\b(?:basic|bearer)\s+[\w+/=.:~-]+/gi;

/**
 * Words beside which passwords and secrets are written, secrets as such, and escapes that could spell either. Any argument of
 * a call may be a password.
 */
const SIGNS_OF_SECRETS =
  /passw|passphrase|passcode|pwd?"|secret|authorization|"call"|fn[A-F]|burrow-root|kqnP|k6p|ey[\w-]+\.|\\u|basic|bearer|\$\w+\$/i;

/** Whether a secret may be somewhere in a query, given as JSON. In doubt: yes. */
export const mayHoldSecret = (query: string): boolean => SIGNS_OF_SECRETS.test(query);

/** The text without anything that looks like a secret. */
export const hideSecretTexts = (text: string): string => text.replace(SECRET_TEXTS, HIDDEN);
