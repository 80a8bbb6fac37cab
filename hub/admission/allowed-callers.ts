/** Checks from which origins pages may send requests and, on loopback, for which host names. */
import type { CorsPolicy } from '../../src/http/message.ts';
import { isLoopback } from '../settings/settings.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The name in lower case, without the port. */
function hostName(authority: string): string {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority.trim().toLowerCase()) ?? [];
  return name;
}

/**
 * Protects against DNS rebinding: a page can make a host name of its own resolve to loopback and send requests to the hub under
 * this name. So a hub that listens on loopback only accepts the names of loopback and `allowedHosts`. A missing Host header is
 * accepted: browsers always send it, but health checks of a proxy may not.
 */
export function hostCheck(
  boundTo: string,
  allowedHosts: readonly string[],
): (authority: string | undefined) => boolean {
  if (!isLoopback(boundTo)) return () => true;
  const allowed = new Set([...LOOPBACK, ...allowedHosts.map((name) => name.toLowerCase())]);
  return (authority) => authority === undefined || allowed.has(hostName(authority));
}

/** `null` is the origin of files and sandboxed frames. `*` does not include it; it must be listed. */
export function corsPolicy(origins: readonly string[]): CorsPolicy {
  const allowed = new Set(origins);
  return { allows: (origin) => (allowed.has('*') && origin !== 'null') || allowed.has(origin) };
}
