/** Finds text that looks like a secret, to hide it in error messages and logs. */

export const HIDDEN = '***';

/**
 * Secrets in all forms, present and former, JSON web tokens, hashes of secrets and passwords, and header values. A web token is searched
 * from the first `ey` in a word on, and below from its point backwards: from each `ey`, a long word would take quadratic time.
 */
const SECRET_TEXTS =
  /\b(?:fn[A-F][\w-]{20,}|burrow-root-[\w-]+|kqnP[\w-]{20,}|k6p[\w-]{20,}|ey(?<!\bey[\w-]*?ey)[\w-]{8,}\.[\w.-]+)|\$\w+\$(?:\d\d\$)?[./\w-]{20,}|\b(?:basic|bearer)\s+[\w+/=.:~-]+/gi;

/**
 * Words that occur next to passwords and secrets, secrets themselves, and escapes that could encode either. `call` is included because any
 * argument of a call may be a password.
 */
const SIGNS_OF_SECRETS =
  /passw|passphrase|passcode|pwd?"|secret|authorization|"call"|fn[A-F]|burrow-root|kqnP|k6p|\.(?<=ey[\w-]+\.)|\\u|basic|bearer|\$\w+\$/i;

/** Whether a query, given as JSON text, may contain a secret. When in doubt, true. */
export const mayHoldSecret = (query: string): boolean => SIGNS_OF_SECRETS.test(query);

/** Replaces everything that looks like a secret. */
export const hideSecretTexts = (text: string): string => text.replace(SECRET_TEXTS, HIDDEN);
