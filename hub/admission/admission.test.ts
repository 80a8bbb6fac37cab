import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import { Admission, credentialOf } from './admission.ts';
import { AnswerMemory } from './answer-memory.ts';
import { ConcurrencyLimits } from './concurrency-limits.ts';
import { HeldBack, type Limit } from '../monitoring/held-back.ts';
import { TokenBuckets } from './token-buckets.ts';

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

test('only tokens have the rate limit of a token: a key belongs to the operator or is public', () => {
  const settings = { ...DEFAULT_SETTINGS, ratePerToken: 1, ratePerAddress: 0, burstSeconds: 1 };
  const admission = new Admission(settings, undefined, () => 0);
  for (const header of ['Bearer some-key', undefined]) {
    const credential = credentialOf(header, '10.0.0.1');
    expect(credential.who()).toBe('10.0.0.1');
    admission.chargeParsed('10.0.0.1', credential, 10 * settings.parsedBytesPerRequest);
    for (let i = 0; i < 3; i++) expect(admission.refusalOf('10.0.0.1', credential)).toBeUndefined();
  }
});

test('a hub with too little memory left refuses further requests', () => {
  const credential = credentialOf(undefined, '10.0.0.1');
  const refusalWith = (heapInUse: number) => {
    const admission = new Admission({ ...DEFAULT_SETTINGS, heapInUse }, undefined, () => 1000);
    return admission.refusalOf('10.0.0.1', credential);
  };
  expect(refusalWith(0)).toMatchObject({ code: 'storage_blocked', retryAfterSeconds: 1 });
  expect(refusalWith(1)).toBeUndefined();
});

test('a long body that is parsed counts as several requests of its token and of its address', () => {
  let nowMs = 0;
  const settings = { ...DEFAULT_SETTINGS, ratePerToken: 10, ratePerAddress: 20, burstSeconds: 1 };
  const admission = new Admission(settings, undefined, () => nowMs);
  const token = credentialOf(`Bearer ${TOKEN}`, '10.0.0.1');
  const other = credentialOf('Bearer a-key', '10.0.0.1');
  expect(admission.refusalOf('10.0.0.1', token)).toBeUndefined();
  admission.chargeParsed('10.0.0.1', token, 29 * settings.parsedBytesPerRequest);
  expect(admission.refusalOf('10.0.0.2', token)).toMatchObject({ retryAfterSeconds: 3 });
  expect(admission.refusalOf('10.0.0.1', other)).toMatchObject({ retryAfterSeconds: 1 });
  nowMs = 600;
  expect(admission.refusalOf('10.0.0.1', other)).toBeUndefined();
  expect(admission.refusalOf('10.0.0.2', token)).toBeDefined();
  nowMs = 3000;
  expect(admission.refusalOf('10.0.0.2', token)).toBeUndefined();
});

test('an address that is refused often gets the further refusals late', () => {
  let nowMs = 0;
  const settings = { ...DEFAULT_SETTINGS, promptRefusalsPerSecond: 2, refusalDelayMs: 700 };
  const admission = new Admission(settings, undefined, () => nowMs);
  const delays = (): number[] =>
    ['a', 'a', 'a', 'b'].map((address) => admission.refusalDelayMs(address));
  expect(delays()).toEqual([0, 0, 700, 0]);
  nowMs = 500;
  expect(delays()).toEqual([0, 700, 700, 0]);
  nowMs = 5000;
  expect(delays()).toEqual([0, 0, 700, 0]);
});

test('a token has the same limits from every address, a key or an unknown secret has its own at each', () => {
  const nameOf = (header: string | undefined, address: string) =>
    credentialOf(header, address).name;
  const [one, two] = ['10.0.0.1', '10.0.0.2'];
  expect(nameOf(`Bearer ${TOKEN}`, one)).toBe(nameOf(`Bearer ${TOKEN}`, two));
  expect(nameOf(`Bearer ${TOKEN}:a:server`, one)).toBe(nameOf(`Bearer ${TOKEN}`, one));
  for (const header of ['Bearer some-key', undefined])
    expect(nameOf(header, one)).not.toBe(nameOf(header, two));
});

test('a request that ends frees one place of its credential, however often it says so', async () => {
  const limits = new ConcurrencyLimits(2, 2);
  const begun: (() => void)[] = [];
  const enter = (name: string) => limits.enter(name)?.then((end) => begun.push(end));
  await Promise.all([enter('a'), enter('a'), enter('b')]);
  const waiting = [enter('a'), enter('a')];
  expect([limits.running, enter('a')]).toEqual([3, undefined]);
  begun[0]?.();
  begun[0]?.();
  await waiting[0];
  expect([limits.running, begun.length]).toEqual([3, 4]);
  begun[1]?.();
  await waiting[1];
  begun[3]?.();
  begun[3]?.();
  expect(limits.running).toBe(2);
  // One of the two places is taken.
  void enter('a');
  void enter('a');
  expect(limits.running).toBe(3);
});

test('a rate below one per second admits one request at a time', () => {
  let nowMs = 0;
  const buckets = new TokenBuckets(0.5, 1, () => nowMs);
  expect([buckets.hasLeft('a'), buckets.take('a')]).toEqual([true, undefined]);
  expect([buckets.hasLeft('a'), buckets.take('a')]).toEqual([false, 2]);
  nowMs = 2000;
  expect([buckets.hasLeft('a'), buckets.take('a')]).toEqual([true, undefined]);
});

test('streams are limited per credential and in total', () => {
  const settings = { ...DEFAULT_SETTINGS, streams: 3, streamsPerCredential: 2 };
  const admission = new Admission(settings);
  const begin = (address: string) => admission.beginStream(credentialOf(undefined, address));
  const ends = ['a', 'a', 'b'].map((address) => {
    const end = begin(address);
    if (typeof end !== 'function') throw new Error(end.message);
    return end;
  });
  const refused = { code: 'too many requests', retryAfterSeconds: 1 };
  expect([begin('a'), begin('c')]).toMatchObject([refused, refused]);
  ends[2]?.();
  ends[2]?.();
  expect(begin('a')).toMatchObject(refused);
  expect(begin('c')).toBeTypeOf('function');
  expect(begin('d')).toMatchObject(refused);
  ends[0]?.();
  expect([begin('a'), begin('a')]).toMatchObject([expect.any(Function), refused]);
});

test('AnswerMemory holds an answer of any size if there are no others, and else up to its limits', () => {
  const memory = new AnswerMemory(100, 60);
  const release = memory.hold('a', 500);
  expect([release === undefined, memory.used, memory.hasRoomFor('b')]).toEqual([false, 500, false]);
  expect(memory.hold('b', 1)).toBeUndefined();
  release?.();
  release?.();
  expect([memory.used, memory.hasRoomFor('a')]).toEqual([0, true]);
  memory.hold('a', 50);
  expect([memory.fits('a', 10), memory.fits('a', 11)]).toEqual([true, false]);
  memory.hold('a', 10);
  expect(memory.used).toBe(60);
  expect([memory.hasRoomFor('a'), memory.hasRoomFor('b')]).toEqual([false, true]);
  expect([memory.fits('a', 1), memory.fits('b', 40), memory.fits('b', 41)]).toEqual([
    false,
    true,
    false,
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
