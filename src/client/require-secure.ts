import { Unsupported } from './errors.ts';

/** Browsers offer `crypto.subtle` only on secure pages. @throws Unsupported on other pages */
export function requireSecure(what: string): void {
  if (!globalThis.crypto?.subtle)
    throw new Unsupported(`${what} needs a page that is served over https or from localhost.`);
}
