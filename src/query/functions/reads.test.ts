import { expect, test } from 'vitest';
import type { PageOptions } from '../session.ts';
import { pureSession, run, shown, SNAPSHOT } from '../testing/pure-session.ts';

const keys = { keys: null };

/** The page options that a query passes to the session. */
function optionsOf(query: object): unknown {
  let seen: PageOptions | undefined;
  const session = pureSession('4', {
    paginate: (_, options) => {
      seen = options;
      return { kind: 'page', before: undefined, after: undefined, data: [], cursors: undefined };
    },
  });
  const outcome = run({ paginate: keys, ...query }, session);
  return seen ?? ('faults' in outcome && outcome.faults.map(({ position }) => position));
}

const PLAIN = { size: 64, time: 'present', cursor: undefined, events: false, sources: false };

test('paginate has a default size of 64 and a maximum of 100000', () => {
  expect(optionsOf({})).toEqual(PLAIN);
  expect(optionsOf({ size: 1_000_000 })).toEqual({ ...PLAIN, size: 100_000 });
  expect(optionsOf({ size: null })).toEqual([['size']]);
});

test('paginate accepts a cursor as after, as before, or in an object', () => {
  expect(optionsOf({ after: null })).toMatchObject({
    cursor: { side: 'after', value: null, steps: ['after'] },
  });
  expect(optionsOf({ before: [1] })).toMatchObject({ cursor: { side: 'before', value: [1] } });
  expect(optionsOf({ cursor: { object: { before: 1 } } })).toMatchObject({
    cursor: { side: 'before', value: 1, steps: ['cursor', 'before'] },
  });
  expect(optionsOf({ cursor: null })).toEqual(PLAIN);
});

test('paginate refuses invalid cursors', () => {
  expect(optionsOf({ cursor: 5 })).toEqual([['cursor']]);
  expect(optionsOf({ cursor: { object: { before: 1, after: 1 } } })).toEqual([['cursor']]);
  expect(optionsOf({ before: 1, after: 1 })).toEqual([[]]);
  expect(optionsOf({ after: [{ collection: 'nowhere' }] })).toEqual([['after']]);
  expect(optionsOf({ cursor: { object: { after: { collection: 'nowhere' } } } })).toEqual([
    ['cursor', 'after'],
  ]);
});

test('paginate reads at ts, which is a time, microseconds or a string of digits', () => {
  const past = SNAPSHOT - 1;
  for (const ts of [past, String(past), { '@ts': '2023-12-31T23:59:59.999999Z' }]) {
    expect(optionsOf({ ts })).toMatchObject({ time: past });
  }
  expect(optionsOf({ ts: '5x' })).toEqual([['ts']]);
});

test('exists is false for an undefined ref, and refuses other values', () => {
  expect(shown({ exists: { index: 'nowhere' } })).toBe('false');
  expect(shown({ exists: 'nowhere' })).toEqual(['invalid argument at ["exists"]']);
});
