import { expect, test } from 'vitest';
import { QueryFailure } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { PageOptions } from '../../query/session.ts';
import { Action, Bytes, DateValue, isKind, Time, UnresolvedRef } from '../../values/value.ts';
import type { Page, Ref, SetValue, Value } from '../../values/value.ts';
import { harbour } from '../testing/harbour.ts';
import { cursorAt, pageOf } from '../testing/paging.ts';
import { documents, field, match, object, SetWorld } from '../testing/set-world.ts';

test('paginate() returns the given cursor, and a cursor for the next page if there is one', () => {
  const { world, boat, lens, plain, desc } = harbour();
  const cases: readonly (readonly [Ref, Partial<PageOptions>, Partial<Page>])[] = [
    [lens, { size: 2 }, { data: [7, 7], after: [12, boat(1)] }],
    [lens, cursorAt('after', 7), { before: [7], data: [7, 7, 12, 30] }],
    [lens, cursorAt('before', 7), { after: [7], data: [] }],
    [lens, cursorAt('after', [7, boat(3)]), { before: [7, boat(3)], data: [7, 12, 30] }],
    [lens, cursorAt('before', [7, boat(5)]), { after: [7, boat(5)], data: [7] }],
    [
      lens,
      { size: 2, ...cursorAt('before', null) },
      { before: [12, boat(1)], after: [null], data: [12, 30] },
    ],
    [lens, cursorAt('after', null), { before: [null], data: [] }],
    [lens, cursorAt('after', []), { before: [], data: [7, 7, 12, 30] }],
    [lens, cursorAt('before', []), { after: [], data: [] }],
    [lens, cursorAt('after', 'z'), { before: ['z'], data: [] }],
    [lens, cursorAt('after', [7, 0]), { before: [7, 0], data: [7, 7, 12, 30] }],
    [lens, cursorAt('after', [7, null, 1]), { before: [7, null, 1], data: [12, 30] }],
    [lens, { size: 0 }, { data: [] }],
    [lens, { size: 0, ...cursorAt('after', 12) }, { before: [12], after: [12], data: [] }],
    [lens, { size: 0, ...cursorAt('before', 12) }, { before: [12], after: [12], data: [] }],
    [lens, { size: -1, ...cursorAt('after', 12) }, { before: [12], data: [] }],
    [lens, { size: -1, ...cursorAt('before', 12) }, { after: [12], data: [] }],
    [
      plain,
      { size: 1, ...cursorAt('after', 0) },
      { before: [0], after: [boat(2)], data: [boat(1)] },
    ],
    [plain, cursorAt('before', 0), { after: [0], data: [] }],
    [plain, cursorAt('after', null), { before: [null], data: [] }],
    [
      plain,
      { size: 3, ...cursorAt('before', null) },
      { before: [boat(2)], after: [null], data: [2, 3, 5].map(boat) },
    ],
    [desc, cursorAt('before', null), { after: [null], data: [] }],
    [
      desc,
      { size: 2, ...cursorAt('before', -(2n ** 63n)) },
      {
        before: [7, 'Brett', boat(2)],
        after: [-(2n ** 63n)],
        data: [
          [7, 'Brett'],
          [7, 'Eider'],
        ],
      },
    ],
    [
      desc,
      { size: 1, ...cursorAt('after', [7, 'Brett']) },
      { before: [7, 'Brett'], after: [7, 'Eider', boat(5)], data: [[7, 'Brett']] },
    ],
  ];
  for (const [index, options, expected] of cases) {
    const { before, after, data } = pageOf(world, match(index, 'oslo'), options);
    expect({ before, after, data }).toEqual({ before: undefined, after: undefined, ...expected });
  }
});

test('paginate() refuses cursors with undefined refs and invalid event cursors, and gives their position', () => {
  const { world, lens, boat } = harbour();
  const ghost = new UnresolvedRef('collection', 'ghosts', '');
  const positionOfFault = (set: SetValue | Ref, options: Partial<PageOptions>) => {
    try {
      pageOf(world, set, options);
      return undefined;
    } catch (reason) {
      if (!(reason instanceof QueryFailure)) throw reason;
      return [reason.faults[0]?.code, ...(reason.faults[0]?.position ?? [])];
    }
  };
  expect(positionOfFault(match(lens, 'oslo'), cursorAt('after', [7, ghost]))).toEqual([
    'invalid ref',
    'after',
  ]);
  const odd: readonly (readonly [Value, readonly unknown[]])[] = [
    ['x', []],
    [object({ when: 1 }), []],
    [object({ ts: 'x' }), ['ts']],
    [object({ ts: 1, action: 'born' }), ['action']],
    [object({ ts: 1, action: 'add', data: [] }), []],
    [object({ ts: 1, action: 'add', document: 5 }), []],
  ];
  for (const [value, steps] of odd) {
    const options = { events: true, ...cursorAt('after', value) };
    expect(positionOfFault(boat(1), options)).toEqual(['invalid argument', 'after', ...steps]);
  }
  for (const op of ['reverse', 'distinct'] as const) {
    const set: SetValue = { kind: 'set', op, set: match(lens, 'oslo') };
    const fault = op === 'reverse' ? ['invalid argument'] : undefined;
    expect(positionOfFault(set, { events: true })).toEqual(fault);
  }
});

test('a cursor may be as large as a request', () => {
  const { world, lens, boat } = harbour();
  // Base64 takes four characters for three bytes. 200 kB are more arguments than a call can have.
  for (const length of [200_000, (LIMITS.requestBytes / 4) * 3]) {
    const cursor = [7, boat(2), new Bytes(new Uint8Array(length).fill(0xff))];
    const page = pageOf(world, match(lens, 'oslo'), cursorAt('after', cursor));
    expect(page.data).toEqual([7, 12, 30]);
  }
});

test('event cursors may be times, dates, objects and null', () => {
  const { world, boats, boat } = harbour();
  const set = documents(boats);
  const all = pageOf(world, set, { events: true }).data;
  const second = all[1];
  if (!isKind(second, 'event')) throw new Error('no event');
  const { ts } = second;
  const after = (value: Value) => pageOf(world, set, { events: true, ...cursorAt('after', value) });
  const start = object({ ts, action: new Action('add') });
  const event = { kind: 'event', action: 'add' };
  for (const cursor of [ts, BigInt(ts), new Time(BigInt(ts) * 1000n + 999n), object({ ts })]) {
    expect(after(cursor)).toMatchObject({ before: { ...event, ts }, data: all.slice(1) });
  }
  expect(after(start).data).toEqual(all.slice(1));
  expect(after(object({ ts, action: 'add', instance: boat(2) })).data).toEqual(all.slice(1));
  expect(after(object({ ts, action: 'add', resource: boat(3), values: [] })).data).toEqual(
    all.slice(2),
  );
  expect(after(new DateValue(0)).data).toEqual(all);
  expect(after(null)).toMatchObject({
    before: { ...event, ts: 2n ** 63n - 1n },
    data: [],
  });
});

test('a cursor of a difference has the form of its first set, whatever values the other sets have', () => {
  const world = new SetWorld();
  const things = world.collection('things');
  const pairs = match(world.index('pairs', things, { values: [field('v'), field('ref')] }));
  const single = match(
    world.index('single', things, { values: [field('v')], terms: [field('none')] }),
  );
  const refs = [1, 2, 3].map((id) => world.put(things, id, { v: 7 }));
  const set: SetValue = { kind: 'set', op: 'difference', sets: [pairs, single] };
  const prefix = [7, refs[2] ?? null];
  expect(pageOf(world, set, cursorAt('after', prefix)).data).toEqual([prefix]);
  expect(pageOf(world, set, cursorAt('before', prefix)).data).toHaveLength(2);
});
