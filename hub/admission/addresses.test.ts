import { expect, test } from 'vitest';
import { networkOf, plainAddress } from './addresses.ts';

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.0.0.2', '10.0.0.2'],
  ['::1', '::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:db8::ffff:ffff:ffff:ffff', '2001:db8::/64'],
  ['2001:DB8:0:0:1:2:3:4', '2001:db8::/64'],
  ['2001:db8:0:1::4', '2001:db8:0:1::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b::/64'],
  ['::3:4:5:6:192.0.2.1', '0:0:3:4::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['192.0.2.7:51234', '192.0.2.7'],
  ['[2001:db8::1]:443', '2001:db8::/64'],
  ['[2001:db8::1]', '2001:db8::/64'],
  ['', ''],
  ['a name: of a proxy', 'a name: of a proxy'],
])('networkOf() counts %j as %j', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('plainAddress() is the same for an IPv4 address over an IPv4 or an IPv6 socket', () => {
  expect(plainAddress('::ffff:10.0.0.2')).toBe('10.0.0.2');
  expect(plainAddress('::ffff:a00:2')).toBe('::ffff:a00:2');
});
