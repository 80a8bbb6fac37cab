/** What looks like a secret, wherever it stands: hidden in error texts and logs. */

export const HIDDEN = '***';

/** Secrets of every form that is issued or was, JSON web tokens, bcrypt hashes, header values. */
const SECRET_TEXTS =
  /\b(?:fn[A-F][\w-]{20,}|burrow-root-[\w-]+|kqnP[\w-]{20,}|k6p[\w-]{20,}|ey[\w-]{8,}\.[\w.-]+)|\$2[abxy]?\$\d\d\$[./\w]{20,}|\b(?:basic|bearer)\s+[\w+/=.:~-]+/gi;

/** The text without whatever looks like a secret, wherever it stands. */
export const hideSecretTexts = (text: string): string => text.replace(SECRET_TEXTS, HIDDEN);
