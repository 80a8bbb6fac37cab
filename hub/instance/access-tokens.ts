/** Verifies access tokens (JWT) of identity providers. Fetches their published keys, from public addresses only. */
import { lookup, type LookupAddress } from 'node:dns';
import { request as requestPlainly, type RequestOptions } from 'node:http';
import { request as requestByTls } from 'node:https';
import { BlockList, isIPv6 } from 'node:net';
import { isSigned, KEYS_FETCH_MS, KEYS_TEXT_MAX } from '../../hosts/signatures.ts';
import { isLoopback } from '../settings/settings.ts';
import type { AccessTokenPort } from '../../src/engine/host.ts';

const LOOPBACK_URI = /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:[/?]|$)/;

export interface AccessTokenHost {
  /** The URL at which callers reach the hub: the audience of tokens for the root database. Undefined until the hub listens. */
  readonly url: () => string | undefined;
  /** Whether only this machine can reach the hub. If so, keys may be fetched from this machine over http, for development. */
  readonly isLoopbackOnly: boolean;
}

export const createAccessTokens = ({ url, isLoopbackOnly }: AccessTokenHost): AccessTokenPort => ({
  async fetchKeys(uri) {
    const address = new URL(uri);
    return fetchKeys(
      address,
      isLoopbackOnly && address.protocol === LOOPBACK.protocol ? LOOPBACK : PUBLIC,
    );
  },
  isSigned,
  mayFetch: (uri) => isLoopbackOnly && LOOPBACK_URI.test(uri),
  get rootAudience() {
    return url();
  },
});

/** Private networks. Anyone who may register a provider must not be able to make the hub send requests into its own network. */
const PRIVATE = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  // Networks with embedded IPv4 addresses: compatible, translated, Teredo, 6to4.
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv6');

export const isPrivate = (address: string): boolean =>
  PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** Which servers keys may be fetched from. */
interface Reach {
  readonly protocol: string;
  readonly request: typeof requestByTls;
  readonly allows: (address: string) => boolean;
  readonly fault: Error;
}

const PUBLIC: Reach = {
  protocol: 'https:',
  request: requestByTls,
  allows: (address) => !isPrivate(address),
  fault: new Error('Keys are fetched only from public addresses.'),
};

const LOOPBACK: Reach = {
  protocol: 'http:',
  request: requestPlainly,
  allows: isLoopback,
  fault: new Error('Keys are fetched over plain http only from this machine.'),
};

/** Checks the same addresses that the connection will use, so the name cannot resolve to other addresses after the check. */
const lookupWithin =
  ({ allows, fault }: Reach): NonNullable<RequestOptions['lookup']> =>
  (name, options, callback) => {
    lookup(name, { ...options, all: true }, (failure, found: LookupAddress[]) => {
      const refusal = failure ?? (found.every(({ address }) => allows(address)) ? null : fault);
      const [first = { address: '', family: 0 }] = found ?? [];
      if (refusal) callback(refusal, '', 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };

/** A redirect counts as a failure, because it could lead to another address. */
function fetchKeys(url: URL, reach: Reach): Promise<string> {
  return new Promise((resolve, reject) => {
    if (url.protocol !== reach.protocol) return reject(reach.fault);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // Node does not call `lookup` for a literal address, so it is checked here.
    if ((/^[\d.]+$/.test(host) || isIPv6(host)) && !reach.allows(host)) return reject(reach.fault);
    const options = {
      headers: { accept: 'application/json' },
      lookup: lookupWithin(reach),
      signal: AbortSignal.timeout(KEYS_FETCH_MS),
    };
    reach
      .request(url, options, (response) => {
        if (response.statusCode !== 200) {
          response.destroy();
          return reject(new Error(`Keys cannot be fetched: status ${response.statusCode}.`));
        }
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
          if (text.length > KEYS_TEXT_MAX) response.destroy(new Error('The key set is too large.'));
        });
        response.on('error', reject);
        response.on('end', () => resolve(text));
      })
      .on('error', reject)
      .end();
  });
}
