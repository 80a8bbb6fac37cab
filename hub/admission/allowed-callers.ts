/** Whom the hub listens to: pages by their origin, and on loopback by the name they call it. */
import type { CorsPolicy } from '../../src/http/message.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export const isLoopback = (host: string): boolean =>
  host === '::1' || host === 'localhost' || host.startsWith('127.');

/** Name without port, in lower case. */
function hostName(authority: string): string {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority.trim().toLowerCase()) ?? [];
  return name;
}

/**
 * A page whose name was made to resolve to loopback calls the hub by that name (DNS rebinding): a hub that only its own machine reaches
 * answers to the names of that machine alone.
 */
export function hostCheck(
  boundTo: string,
  allowedHosts: readonly string[],
): (authority: string | undefined) => boolean {
  if (!isLoopback(boundTo)) return () => true;
  const allowed = new Set(allowedHosts.map((name) => name.toLowerCase()));
  return (authority) => {
    if (authority === undefined) return false;
    const name = hostName(authority);
    return LOOPBACK.has(name) || allowed.has(name);
  };
}

/** `null`, the origin of files and sandboxes, is nobody's: only a list that names it lets it in. */
export function corsPolicy(origins: readonly string[]): CorsPolicy {
  const allowed = new Set(origins);
  return { allows: (origin) => (allowed.has('*') && origin !== 'null') || allowed.has(origin) };
}
