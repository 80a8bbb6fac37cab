/** Which passwords and password hashes are valid. Spec: decisions, "Identity and HTTP"; auth 2.1. */
import { utf8Length } from '../../codec/utf8.ts';
import { LIMITS } from '../../limits.ts';
import { normalForm } from '../../query/unicode.ts';

/** Normalises a password: keyboards and systems compose the same letters in different ways. */
export const normalised = (password: string): string => normalForm(password, 'NFC');

/** Why a password is invalid: bcrypt could not distinguish it from others. Undefined if it is valid. */
export function passwordFault(password: string): string | undefined {
  if (password.includes('\0')) return 'A password may not contain the character NUL.';
  if (utf8Length(password) > LIMITS.passwordBytes) {
    return `A password may not be longer than ${LIMITS.passwordBytes} bytes.`;
  }
  return undefined;
}

const BCRYPT = /^\$2[aby]?\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** Whether the text is a bcrypt hash, possibly made elsewhere, that can be checked here. */
export function isPasswordHash(text: string): boolean {
  const cost = Number(BCRYPT.exec(text)?.[1]);
  return cost >= LIMITS.hashCostMin && cost <= LIMITS.hashCostMax;
}
