/** Addresses of callers, as limits count them. */
import { isIPv6 } from 'node:net';

/** Who is at the other end of a connection, as limits count it. */
export interface Peer {
  readonly address: string;
  /** A proxy, which speaks for many. */
  readonly isTrusted: boolean;
}

export function peerOf(
  { remoteAddress = '' }: { readonly remoteAddress?: string | undefined },
  trustedProxies: readonly string[],
): Peer {
  const plain = plainAddress(remoteAddress);
  return { address: networkOf(plain), isTrusted: trustedProxies.includes(plain) };
}

/** One that listens on `::` has callers of IPv4 under such names. */
export const plainAddress = (address: string): string =>
  /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;

/** Who has an IPv6 address has at least 2^64 of them: those of one network are one caller. */
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

/** An IPv4 address at the end takes two. */
const groupsOf = (text: string): readonly string[] =>
  text
    .replace(/[\d.]+\.\d+$/, '0:0')
    .split(':')
    .filter((group) => group !== '');
