import { expect, test } from 'vitest';
import { HeaderFault, readHeaders, tagsByKey } from './request-headers.ts';

const read = (headers: Record<string, string>) => readHeaders({ headers });
const faultOf = (headers: Record<string, string>): HeaderFault => {
  try {
    read(headers);
  } catch (reason) {
    if (reason instanceof HeaderFault) return reason;
  }
  throw new Error('the headers were taken');
};

test('readHeaders() has defaults for everything', () => {
  expect(read({})).toEqual({
    apiVersion: '2.1',
    lastSeenTxn: undefined,
    timeoutMs: undefined,
    tags: new Map(),
    isFormatted: false,
    isTraced: false,
  });
});

test.each([
  [{ 'x-faunadb-api-version': '2.12' }, { apiVersion: '2.12' }],
  [{ 'x-faunadb-api-version': 'UNSTABLE' }, { apiVersion: 'UNSTABLE' }],
  [{ 'x-last-seen-txn': '1714567890123456' }, { lastSeenTxn: 1714567890123456 }],
  [{ 'x-query-timeout': '1' }, { timeoutMs: 1 }],
  [{ 'x-query-timeout': '600000' }, { timeoutMs: 600_000 }],
  [{ 'x-max-retries-on-contention': '7' }, { retriesMax: 7 }],
  [
    { 'x-fauna-tags': 'a=1,b_2=x' },
    {
      tags: new Map([
        ['a', '1'],
        ['b_2', 'x'],
      ]),
    },
  ],
  [{ 'x-fauna-tags': '' }, { tags: new Map() }],
  [{ 'x-faunadb-formatted-json': '' }, { isFormatted: true }],
  [{ 'user-agent': 'curl/8.1' }, { isFormatted: true }],
  [{ 'user-agent': 'HTTPie/3' }, { isFormatted: true }],
  [{ 'x-trace': '1' }, { isTraced: true }],
])('readHeaders() accepts %j', (headers, expected) => {
  expect(read(headers)).toMatchObject(expected);
});

test.each([
  ['x-faunadb-api-version', '9'],
  ['x-faunadb-api-version', 'unstable'],
  ['x-last-seen-txn', 'yesterday'],
  ['x-last-seen-txn', '1.5'],
  ['x-last-seen-txn', '99999999999999999'],
  ['x-query-timeout', '0'],
  ['x-query-timeout', '600001'],
  ['x-query-timeout', '-1'],
  ['x-max-retries-on-contention', '8'],
  ['x-max-retries-on-contention', ''],
])('readHeaders() refuses %s: %s without metrics', (name, value) => {
  const fault = faultOf({ [name]: value });
  expect(fault.message).toMatch(`Invalid header '${name}': `);
  expect(fault.carriesMetrics).toBe(false);
});

test.each([
  ['page home', 'expected pairs'],
  ['a=1,a=2', 'each key once'],
  ['a=1,', 'expected pairs'],
  ['a', 'expected pairs'],
  ['a=b=c', 'expected pairs'],
  ['a=', 'invalid value'],
  ['=a', 'invalid key'],
  ['a-b=1', 'invalid key'],
  ['a=b c', 'invalid value'],
  [`${'k'.repeat(41)}=1`, 'invalid key'],
  [`k=${'v'.repeat(81)}`, 'invalid value'],
  [Array.from({ length: 26 }, (_, i) => `k${i}=1`).join(','), 'too many tags'],
  [
    Array.from({ length: 25 }, (_, i) => `${'k'.repeat(38)}${i}=${'v'.repeat(80)}`).join(','),
    'at most 3000 characters',
  ],
])('readHeaders() refuses tags %s, with metrics: %s', (tags, reason) => {
  const fault = faultOf({ 'x-fauna-tags': tags });
  expect(fault.message).toMatch(/^Invalid header 'x-fauna-tags': invalid tags: /);
  expect(fault.message).toContain(reason);
  expect(fault.carriesMetrics).toBe(true);
});

test('readHeaders() accepts tags at their limits', () => {
  const tags = Array.from({ length: 25 }, (_, i) => `k${i}=${'v'.repeat(80)}`).join(',');
  expect(read({ 'x-fauna-tags': tags }).tags.size).toBe(25);
  expect(read({ 'x-fauna-tags': `${'k'.repeat(40)}=1` }).tags.size).toBe(1);
});

test('tagsByKey() takes time in proportion to the length of the header', () => {
  const start = performance.now();
  expect(tagsByKey(`b=1 , a=${' '.repeat(100_000)}x`)).toBe(`a=${' '.repeat(100_000)}x,b=1`);
  expect(performance.now() - start).toBeLessThan(500);
});
