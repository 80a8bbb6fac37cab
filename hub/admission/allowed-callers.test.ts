import { expect, test } from 'vitest';
import { corsPolicy, hostCheck } from './allowed-callers.ts';

test('corsPolicy() allows the named origins; `*` allows every origin except `null`', () => {
  const named = corsPolicy(['https://a.example']);
  expect(named.allows('https://a.example')).toBe(true);
  for (const other of ['https://b.example', 'http://a.example', 'null', '*'])
    expect([other, named.allows(other)]).toEqual([other, false]);
  const all = corsPolicy(['*']);
  expect(all.allows('https://b.example')).toBe(true);
  // Pages in a sandbox and files have this origin, whoever wrote them.
  expect(all.allows('null')).toBe(false);
  expect(corsPolicy(['*', 'null']).allows('null')).toBe(true);
});

test('hostCheck() allows names of the loopback and the given names, for a hub on loopback only', () => {
  const check = hostCheck('127.0.0.1', ['Hub.example']);
  for (const host of ['localhost', 'LOCALHOST:8443', '127.0.0.1:1', '[::1]:1', 'hub.example:80'])
    expect([host, check(host)]).toEqual([host, true]);
  for (const host of ['evil.example', 'localhost.evil.example', 'hub.example.evil:80', ''])
    expect([host, check(host)]).toEqual([host, false]);
  // Health checks of a proxy may have no Host header.
  expect(check(undefined)).toBe(true);
  expect(hostCheck('0.0.0.0', [])('evil.example')).toBe(true);
});
