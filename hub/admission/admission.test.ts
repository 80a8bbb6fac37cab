import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import { Admission, credentialOf } from './admission.ts';
import { HeldBack, type Limit } from '../monitoring/held-back.ts';

/** The secret of token 7: the bytes with which a token begins, its id, the id of its database, and random bytes. */
const TOKEN = Buffer.from([
  0x7e,
  0x71,
  ...Array.from({ length: 7 }, () => 0),
  7,
  ...Array.from({ length: 28 }, () => 1),
]).toString('base64url');

test('refused callers are counted by limit', async () => {
  const limits: Limit[] = [];
  const settings = {
    ...DEFAULT_SETTINGS,
    ratePerToken: 1,
    ratePerAddress: 2,
    burstSeconds: 1,
    concurrencyPerCredential: 1,
    waitingPerCredential: 0,
    streamsPerCredential: 1,
  };
  const admission = new Admission(
    settings,
    (limit) => limits.push(limit),
    () => 0,
  );
  const credential = credentialOf(`Bearer ${TOKEN}`, '10.0.0.1');
  for (const address of ['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2'])
    admission.refusalOf(address, credential);
  for (let i = 0; i < 2; i++) await admission.beginRequest(credential);
  for (let i = 0; i < 2; i++) admission.beginStream(credential);
  expect(limits).toEqual(['token rate', 'address rate', 'token rate', 'concurrency', 'streams']);
  expect(admission.heldBack.most(2)).toEqual([
    { limit: 'token rate', who: 'token 7', count: 2 },
    { limit: 'address rate', who: '10.0.0.1', count: 1 },
  ]);
});

test('HeldBack keeps the most refused caller, however many other callers there are', () => {
  const heldBack = new HeldBack();
  for (let i = 0; i < 5000; i++) {
    heldBack.note('token rate', `token ${i}`);
    if (i % 10 === 0) heldBack.note('address rate', '10.0.0.1');
  }
  const [most, ...others] = heldBack.most(1000);
  expect(most).toEqual({ limit: 'address rate', who: '10.0.0.1', count: 500 });
  expect(others).toHaveLength(63);
});
