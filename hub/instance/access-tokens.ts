/** Access tokens of identity providers (JWT): fetches published keys, from public addresses only, and verifies signatures. */
import { lookup, type LookupAddress } from 'node:dns';
import { request } from 'node:https';
import { BlockList, isIPv6 } from 'node:net';
import { isSigned, KEYS_FETCH_MS, KEYS_TEXT_MAX } from '../../hosts/signatures.ts';
import type { AccessTokenPort } from '../../src/engine/host.ts';

/** @param rootAudience the URL at which callers reach the hub, if it is known */
export const createAccessTokens = (rootAudience: string | undefined): AccessTokenPort => ({
  fetchKeys,
  isSigned,
  ...(rootAudience !== undefined && { rootAudience }),
});

/** Whoever may register a provider must not make the hub send requests into its own network. */
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
  // With IPv4 addresses inside: compatible, translated, Teredo, 6to4.
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

/** Checks the very addresses that the connection will use: the name cannot resolve to others a moment later. */
const publicLookup: NonNullable<Parameters<typeof request>[1]>['lookup'] = (
  name,
  options,
  callback,
): void => {
  lookup(name, { ...options, all: true }, (failure, found: LookupAddress[]) => {
    const fault =
      failure ?? (found.some(({ address }) => isPrivate(address)) ? PRIVATE_FAULT : null);
    const [first = { address: '', family: 0 }] = found ?? [];
    if (fault) callback(fault, '', 0);
    else if (options.all === true) callback(null, found);
    else callback(null, first.address, first.family);
  });
};

const PRIVATE_FAULT = new Error('Keys are fetched from public addresses only.');

/** A redirection is a failure: it could lead elsewhere. */
function fetchKeys(uri: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const url = new URL(uri);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // Node looks up no address, so this is checked here.
    if (/^[\d.]+$/.test(host) || isIPv6(host)) if (isPrivate(host)) return reject(PRIVATE_FAULT);
    const options = {
      headers: { accept: 'application/json' },
      lookup: publicLookup,
      signal: AbortSignal.timeout(KEYS_FETCH_MS),
    };
    request(url, options, (response) => {
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
