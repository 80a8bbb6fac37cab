/** The checker finds planted anomalies of each kind, and none in histories of a serial database. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkAppends, type Operation, type Step } from './history-checker.ts';
import { isLinearizable, type RegisterOperation } from './register-checker.ts';

const append = (key: string, value: number): Step => ({ kind: 'append', key, value });
const read = (key: string, ...values: number[]): Step => ({ kind: 'read', key, values });

/** Operations run one after the other unless times are given. */
const history = (
  ...operations: (readonly [steps: readonly Step[], more?: Partial<Operation>])[]
): Operation[] =>
  operations.map(([steps, more], id) => ({
    id,
    process: id,
    invoked: id * 10,
    completed: id * 10 + 5,
    outcome: 'ok',
    steps,
    ...more,
  }));
const final = (lists: Record<string, number[]>) => new Map(Object.entries(lists));
const kindsIn = (...[operations, lists]: Parameters<typeof checkAppends>): string[] =>
  checkAppends(operations, lists).map(({ kind }) => kind);
/** Runs concurrently with all other operations. */
const beside: Partial<Operation> = { invoked: 0, completed: 1000 };

describe('checkAppends() finds', () => {
  test('no anomaly in a serial history', () => {
    const serial = history(
      [[append('x', 1)]],
      [[read('x', 1), append('x', 2), read('x', 1, 2)]],
      [[append('y', 3), append('x', 4)], { outcome: 'info' }],
      [[read('x', 1, 2, 4), read('y', 3)]],
      [[append('x', 5)], { outcome: 'fail' }],
    );
    expect(kindsIn(serial, final({ x: [1, 2, 4], y: [3] }))).toEqual([]);
  });

  test('a duplicate value, and a value that nobody or an aborted transaction wrote', () => {
    const lists = final({ x: [1] });
    expect(kindsIn(history([[append('x', 1)]], [[read('x', 1, 1)]]), lists)).toContain('duplicate');
    expect(kindsIn(history([[append('x', 1)]], [[read('x', 7)]]), lists)).toContain(
      'unwritten read',
    );
    const aborted = history([[append('x', 1)], { outcome: 'fail' }], [[read('x', 1)]]);
    expect(kindsIn(aborted, lists)).toContain('aborted read');
  });

  test('a read of an intermediate state of a transaction', () => {
    const torn = history([[append('x', 1), append('x', 2)], beside], [[read('x', 1)], beside]);
    expect(kindsIn(torn, final({ x: [1, 2] }))).toEqual(['intermediate read']);
  });

  test('a transaction that does not see its own appends', () => {
    const blind = history([[append('x', 1), read('x')]]);
    expect(kindsIn(blind, final({ x: [1] }))).toContain('internal');
    const moving = history([[append('x', 1)], beside], [[read('x'), read('x', 1)], beside]);
    expect(kindsIn(moving, final({ x: [1] }))).toEqual(['internal']);
  });

  test('lists with incompatible orders, and a lost append', () => {
    const forked = history([[append('x', 1)]], [[append('x', 2)]], [[read('x', 2, 1)]]);
    expect(kindsIn(forked, final({ x: [1, 2] }))).toContain('incompatible order');
    expect(kindsIn(history([[append('x', 1)]]), final({ x: [] }))).toEqual(['lost append']);
  });

  test('G0: two transactions whose writes overwrite each other', () => {
    const crossed = history(
      [[append('x', 1), append('y', 1.5)], beside],
      [[append('x', 2), append('y', 2.5)], beside],
    );
    expect(kindsIn(crossed, final({ x: [1, 2], y: [2.5, 1.5] }))).toEqual(['G0']);
  });

  test('G1c: two transactions that read from each other', () => {
    const circular = history(
      [[append('x', 1), read('y', 2)], beside],
      [[append('y', 2), read('x', 1)], beside],
    );
    expect(kindsIn(circular, final({ x: [1], y: [2] }))).toEqual(['G1c']);
  });

  test('G-single: a read of two states, and a lost update', () => {
    const skewed = history(
      [[append('x', 1), append('y', 2)], beside],
      [[read('x', 1), read('y')], beside],
    );
    expect(kindsIn(skewed, final({ x: [1], y: [2] }))).toEqual(['G-single']);
    const lost = history(
      [[read('x'), append('x', 1)], beside],
      [[read('x'), append('x', 2)], beside],
    );
    expect(kindsIn(lost, final({ x: [1, 2] }))).toEqual(['G-single']);
  });

  test('G2: write skew', () => {
    const skew = history(
      [[read('x'), append('y', 1)], beside],
      [[read('y'), append('x', 2)], beside],
    );
    expect(kindsIn(skew, final({ x: [2], y: [1] }))).toEqual(['G2']);
  });

  test('a read that misses an acknowledged append', () => {
    const stale = history([[append('x', 1)]], [[read('x')]], [[read('x', 1)]]);
    const [found] = checkAppends(stale, final({ x: [1] }));
    expect(found).toEqual({
      kind: 'not in real time',
      description: '1 (x=[]) -rw-> 0; 0 (x+1) -time-> 1',
    });
    expect(kindsIn(history([[append('x', 1)], beside], [[read('x')]]), final({ x: [1] }))).toEqual(
      [],
    );
  });
});

/** Histories of a database that executes one transaction after the other, but whose answers arrive late. */
const serialHistories = fc
  .array(
    fc.record({
      steps: fc.array(fc.record({ key: fc.constantFrom('x', 'y', 'z'), isRead: fc.boolean() }), {
        minLength: 1,
        maxLength: 4,
      }),
      before: fc.nat(30),
      after: fc.nat(30),
      outcome: fc.constantFrom('ok', 'ok', 'ok', 'info', 'fail'),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((planned) => {
    const lists = new Map<string, number[]>();
    let value = 0;
    const operations = planned.map(({ steps, before, after, outcome }, id): Operation => {
      const isDone = outcome !== 'fail';
      const own = new Map([...lists].map(([key, values]) => [key, [...values]]));
      const seen = steps.map(({ key, isRead }): Step => {
        const list = own.get(key) ?? [];
        own.set(key, list);
        if (isRead) return { kind: 'read', key, values: [...list] };
        list.push((value += 1));
        return { kind: 'append', key, value };
      });
      if (isDone) for (const [key, values] of own) lists.set(key, values);
      const at = id * 10;
      return { id, process: id, invoked: at - before, completed: at + after, outcome, steps: seen };
    });
    return { operations, lists };
  });

test('checkAppends() finds nothing in a serial database, and each stale read planted in it', () => {
  fc.assert(
    fc.property(serialHistories, ({ operations, lists }) => {
      expect(checkAppends(operations, lists)).toEqual([]);
      const [key = ''] = [...lists].find(([, values]) => values.length > 0) ?? [];
      const stale: Operation = {
        id: operations.length,
        process: -1,
        invoked: operations.length * 10 + 100,
        completed: operations.length * 10 + 101,
        outcome: 'ok',
        steps: [{ kind: 'read', key, values: [] }],
      };
      const wrote = operations.some(
        ({ outcome, steps }) =>
          outcome === 'ok' && steps.some((step) => step.kind === 'append' && step.key === key),
      );
      fc.pre(wrote);
      expect(checkAppends([...operations, stale], lists)).not.toEqual([]);
    }),
    { numRuns: 300 },
  );
});

describe('isLinearizable()', () => {
  const done = (
    call: RegisterOperation['call'],
    invoked: number,
    completed: number,
  ): RegisterOperation => ({ call, invoked, completed });
  const write = (value: number) => ({ kind: 'write', value }) as const;
  const sees = (value: number) => ({ kind: 'read', value }) as const;
  const swap = (from: number, to: number, isSet: boolean) =>
    ({ kind: 'compare and set', from, to, isSet }) as const;

  test('is true if there is an order', () => {
    const operations = [
      done(write(1), 0, 10),
      done(sees(0), 1, 9),
      done(swap(1, 2, true), 5, 20),
      done(swap(1, 3, false), 21, 22),
      done(write(9), 12, Infinity),
      done(sees(9), 30, 31),
    ];
    expect(isLinearizable(operations, 0)).toBe(true);
  });

  test('is false for a stale read, a value that reappears, and two winners', () => {
    expect(isLinearizable([done(write(1), 0, 1), done(sees(0), 2, 3)], 0)).toBe(false);
    const back = [done(write(1), 0, 9), done(sees(1), 1, 2), done(sees(0), 3, 4)];
    expect(isLinearizable(back, 0)).toBe(false);
    const winners = [done(swap(0, 1, true), 0, 9), done(swap(0, 2, true), 0, 9)];
    expect(isLinearizable(winners, 0)).toBe(false);
  });
});
