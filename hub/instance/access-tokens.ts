/** Tokens of identity providers (JWT): fetches published keys, from public addresses alone, and checks signatures with them. */
import { lookup, type LookupAddress } from 'node:dns';
import { request } from 'node:https';
import { BlockList, isIPv6 } from 'node:net';
import { isSigned } from '../../hosts/signatures.ts';
import type { AccessTokenPort } from '../../src/engine/host.ts';

const FETCH_MS = 5000;
const TEXT_MAX = 256 * 1024;

/** @param rootAudience where callers see the hub, when that is known */
export const createAccessTokens = (rootAudience: string | undefined): AccessTokenPort => ({
  fetchKeys,
  isSigned,
  ...(rootAudience !== undefined && { rootAudience }),
});

/** Who may name a provider may not make the hub knock at doors within its own network. */
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
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv6');

export const isPrivate = (address: string): boolean =>
  PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** Looked at where the connection takes its address from: a name cannot mean something else a moment later. */
const publicLookup: NonNullable<Parameters<typeof request>[1]>['lookup'] = (
  name,
  options,
  callback,
): void => {
  lookup(name, { ...options, all: true }, (failure, found: LookupAddress[]) => {
    const wrong =
      failure ?? (found.some(({ address }) => isPrivate(address)) ? PRIVATE_FAULT : null);
    const [first = { address: '', family: 0 }] = found ?? [];
    if (wrong) callback(wrong, '', 0);
    else if (options.all === true) callback(null, found);
    else callback(null, first.address, first.family);
  });
};

const PRIVATE_FAULT = new Error('Keys are fetched from public addresses only.');

/** Nobody may send us elsewhere: a redirection is a failure. */
function fetchKeys(uri: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const url = new URL(uri);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // An address needs no lookup, and so gets none.
    if (/^[\d.]+$/.test(host) || isIPv6(host)) if (isPrivate(host)) return reject(PRIVATE_FAULT);
    const options = {
      headers: { accept: 'application/json' },
      lookup: publicLookup,
      signal: AbortSignal.timeout(FETCH_MS),
    };
    request(url, options, (answer) => {
      if (answer.statusCode !== 200) {
        answer.destroy();
        return reject(new Error(`Keys cannot be fetched: status ${answer.statusCode}.`));
      }
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
        if (text.length > TEXT_MAX) answer.destroy(new Error('A set of keys is too large.'));
      });
      answer.on('error', reject);
      answer.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
}
