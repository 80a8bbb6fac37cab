/** Which origins of pages may send requests, and on loopback under which host names. */
import type { CorsPolicy } from '../../src/http/message.ts';
import { isLoopback } from '../settings/settings.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Without the port, in lower case. */
function hostName(authority: string): string {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority.trim().toLowerCase()) ?? [];
  return name;
}

/**
 * DNS rebinding: a page can make a name of its own resolve to loopback and call the hub by it. So a hub that only its own
 * machine reaches accepts the names of loopback alone. Browsers always send one; health checks of a proxy may send none.
 */
export function hostCheck(
  boundTo: string,
  allowedHosts: readonly string[],
): (authority: string | undefined) => boolean {
  if (!isLoopback(boundTo)) return () => true;
  const allowed = new Set([...LOOPBACK, ...allowedHosts.map((name) => name.toLowerCase())]);
  return (authority) => authority === undefined || allowed.has(hostName(authority));
}

/** `null` is the origin of files and sandboxed frames: `*` does not include it, only a list that names it. */
export function corsPolicy(origins: readonly string[]): CorsPolicy {
  const allowed = new Set(origins);
  return { allows: (origin) => (allowed.has('*') && origin !== 'null') || allowed.has(origin) };
}
