/** Addresses of callers as the limits count them. */
import { isIPv6 } from 'node:net';

/** The other end of a connection. */
export interface Peer {
  readonly address: string;
  /** Whether the peer is a trusted proxy, which forwards requests of many callers. */
  readonly isTrusted: boolean;
}

export function peerOf(
  { remoteAddress = '' }: { readonly remoteAddress?: string | undefined },
  trustedProxies: readonly string[],
): Peer {
  const plain = plainAddress(remoteAddress);
  return { address: networkOf(plain), isTrusted: trustedProxies.includes(plain) };
}

/**
 * Returns an IPv4 address without the prefix that it has on a socket that listens on `::`. Also without the port and the brackets
 * that some proxies forward: the port differs with each connection of a caller.
 */
export const plainAddress = (address: string): string =>
  /^(?:::ffff:)?([\d.]+)(?::\d+)?$/i.exec(address)?.[1] ??
  address.replaceAll(/^\[|\](:\d+)?$/g, '');

/**
 * The name under which an address is counted. A caller with an IPv6 address has at least 2^64 of them, so all addresses of a /64
 * network count as one caller.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [whole = ''] = plain.split('%', 1);
  const [head, tail] = whole.split('::', 2).map(groupsOf);
  const missing = 8 - (head?.length ?? 0) - (tail?.length ?? 0);
  const groups = [...(head ?? []), ...Array.from({ length: missing }, () => '0'), ...(tail ?? [])];
  const { hostname } = new URL(`http://[${groups.slice(0, 4).join(':')}::]`);
  return `${hostname.slice(1, -1)}/64`;
}

/** Splits part of an IPv6 address into its groups. An IPv4 address at the end counts as two groups, which are not needed. */
const groupsOf = (text: string): readonly string[] =>
  text
    .replace(/[\d.]+\.\d+$/, '0:0')
    .split(':')
    .filter((group) => group !== '');
