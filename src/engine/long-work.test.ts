/**
 * Short queries that take long: they are refused because of their work, or end at their time limit. No result of these tests depends on
 * real time.
 */
import { beforeAll, expect, test } from 'vitest';
import { coll, EngineWorld, obj, type Query } from './testing/engine-world.ts';
import { createTestEngine } from './testing/fuzz-world.ts';
import { longList, longText, range, repeated, same } from './testing/large-values.ts';
import { outcome } from './testing/outcomes.ts';

const v = (name: string): Query => ({ var: name });
const SLOW: Readonly<Record<string, Query>> = {
  'many searches in a long text': {
    let: { s: longText(23) },
    in: repeated(200, { containsstr: v('s'), search: 'aaaaaaaaab' }),
  },
  'a search for a long text': {
    let: [{ s: longText(20) }, { t: { concat: ['ab', { substring: v('s'), length: 100_000 }] } }],
    in: { containsstr: v('s'), search: v('t') },
  },
  'many counts of a long array': {
    let: { a: longList(17, 0) },
    in: repeated(9000, { count: v('a') }),
  },
  'many normalizations of compatible characters': {
    let: { s: longText(17, '\ufdfa\u00c5\u1e69') },
    in: repeated(50, { casefold: v('s'), normalizer: 'NFKC' }),
  },
  'the normalization of many combining marks': {
    let: { s: longText(16, '\u0301\u0323') },
    in: { casefold: { concat: ['a', v('s')] }, normalizer: 'NFC' },
  },
  'the title case of a long text': { let: { s: longText(22) }, in: { titlecase: v('s') } },
  'the conversion of many digits to a number': {
    let: { s: longText(23, '7') },
    in: { to_integer: v('s') },
  },
  'many searches for a pattern': {
    let: { s: longText(20) },
    in: repeated(10, { findstrregex: v('s'), pattern: '(a|aa)+$x' }),
  },
};

test.each(Object.entries(SLOW))('refused for too much work: %s', async (_, query) => {
  expect(await outcome(createTestEngine(), query)).toEqual({ refused: 'bad request' });
});

const DOCUMENTS = 30_000;
const BATCH = 5_000;

/** 30,000 documents in each of two collections, and a user who may read few of them. */
async function largeWorld(): Promise<{ readonly w: EngineWorld; readonly secret: string }> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes', history_days: 0 }) });
  const one = { create: coll('notes'), params: obj({ data: obj({ n: v('n') }) }) };
  for (let made = 0; made < DOCUMENTS; made += BATCH) {
    await w.ask({
      foreach: { lambda: 'n', expr: one },
      collection: range(BATCH),
    });
  }
  const mine = { equals: [{ select: ['data', 'n'], from: { get: v('r') } }, -1] };
  await w.ask({
    create_role: obj({
      name: 'reader',
      privileges: obj({
        resource: coll('notes'),
        actions: obj({ read: { query: { lambda: 'r', expr: mine } } }),
      }),
    }),
  });
  const key = await w.document({ create_key: obj({ role: { role: 'reader' } }) });
  return { w, secret: key.secret };
}

let large: Awaited<ReturnType<typeof largeWorld>>;
beforeAll(async () => {
  large = await largeWorld();
}, 120_000);

const documents = { documents: coll('notes') };

test('reading a large document many times in one query is refused', async () => {
  const { w } = large;
  const ref = { ref: coll('notes'), id: '1' };
  const list = longList(19, 0);
  await w.ask({ do: [{ create: ref, params: obj({ data: obj({ list }) }) }, 0] });
  const first = { select: ['data', 'list', 0], from: { get: ref } };
  expect(await w.ask(repeated(3, first))).toBe(3);
  expect(await w.fault(repeated(300, first))).toMatchObject({ status: 400, code: 'bad request' });
  await w.ask({ do: [{ delete: ref }, 0] });
});

test('a union of many large sets is refused', async () => {
  const { w } = large;
  expect(await w.ask({ count: { union: same(2, documents) } })).toBe(DOCUMENTS);
  expect(await w.fault({ count: { union: same(30, documents) } })).toMatchObject({
    status: 400,
    code: 'bad request',
    description: expect.stringMatching(/^Query exceeded .* units of work\.$/),
  });
});

test('if a predicate hides too many documents, the whole query is refused instead of returning short pages', async () => {
  const { w, secret } = large;
  expect(await w.ask({ paginate: documents }, { secret })).toEqual({ data: [] });
  const pages = range(30).map((size) => ({ paginate: documents, size: size + 1 }));
  expect(await w.fault(pages, { secret })).toMatchObject({ status: 400, code: 'bad request' });
});

test.each(['a set', 'a predicate', 'an answer'] as const)(
  'a query ends at its time limit within %s',
  async (where) => {
    const { w, secret } = large;
    const query = {
      'a set': { count: { union: same(3, documents) } },
      'a predicate': { paginate: documents },
      'an answer': same(40, longText(17)),
    }[where];
    const request = {
      secret: where === 'a predicate' ? secret : 'root-secret',
      query: JSON.stringify(query),
      apiVersion: '4',
      allows: 'read',
      timeoutMs: 10_000,
    } as const;
    expect((await w.engine.query(request)).status).toBe(200);
    // Each reading of the clock advances it by a second.
    const { now } = w;
    let looks = 0;
    Object.defineProperty(w, 'now', {
      configurable: true,
      get: () => now + (looks += 1) * 1_000_000,
    });
    const { status } = await w.engine.query(request);
    Object.defineProperty(w, 'now', { value: now, writable: true, configurable: true });
    expect(status).toBe(503);
    expect(looks).toBeLessThan(20);
  },
);
