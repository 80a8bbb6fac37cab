import { Unsupported } from './errors.ts';

/** Browsers have the cryptography for it nowhere else. @throws Unsupported */
export function requireSecure(what: string): void {
  if (!globalThis.crypto?.subtle)
    throw new Unsupported(`${what} needs a page that is served over https or from localhost.`);
}
