import { expect, test } from 'vitest';
import type { Key } from '../codec/key.ts';
import { LIMITS } from '../limits.ts';
import { Suspended, type Need } from '../store/reader.ts';
import { applyLambda } from './evaluate.ts';
import { parseLambda } from './parse.ts';
import { pureSession, run, shown, SNAPSHOT } from './testing/pure-session.ts';
import type { WriteSession } from './session.ts';

/** A session in which `key_from_secret` suspends for every secret that is not in `known`, and fails for `"bad"`. */
function waitingSession(
  known: readonly string[] = [],
): WriteSession & { readonly asked: string[] } {
  const asked: string[] = [];
  const session = pureSession('4', {
    auth: {
      ...pureSession().auth,
      keyFromSecret: (secret) => {
        asked.push(secret);
        if (!known.includes(secret)) throw new Suspended([need(secret)]);
        return new Map([['secret', secret]]);
      },
    },
  });
  return Object.assign(session, { asked });
}

const need = (name: string): Need => ({ kind: 'hash', password: name });
const read = (secret: unknown): unknown => ({ key_from_secret: secret });

/** The needs of one run of the query. */
function needsOf(query: unknown, session: WriteSession = waitingSession()): readonly string[] {
  try {
    run(query, session);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof Suspended)) throw thrown;
    return thrown.needs.map((each) => (each.kind === 'hash' ? each.password : each.kind));
  }
}

test('evaluate() collects the needs of all members of arrays and objects', () => {
  expect(needsOf([read('a'), [read('b'), { object: { x: read('c'), y: read('d') } }]])).toEqual([
    'a',
    'b',
    'c',
    'd',
  ]);
});

test('evaluate() collects the needs of bindings and body of a let, except where a missing value is used', () => {
  const body = [{ select: 'secret', from: { var: 'x' } }, read('c')];
  expect(needsOf({ let: [{ x: read('a') }, { y: read('b') }], in: body })).toEqual(['a', 'b', 'c']);
});

test('evaluate() collects the needs of all elements of map, foreach and filter', () => {
  const each = (key: string): unknown => ({
    [key]: { lambda: 's', expr: read({ var: 's' }) },
    collection: ['a', 'b', 'c'],
  });
  for (const key of ['map', 'foreach', 'filter']) {
    expect(needsOf(each(key))).toEqual(['a', 'b', 'c']);
  }
});

test('evaluate() collects the needs of later elements of reduce although an earlier result is missing', () => {
  const expr = [{ var: 'all' }, read({ var: 's' })];
  const query = {
    reduce: { lambda: ['all', 's'], expr },
    initial: null,
    collection: ['a', 'b', 'c'],
  };
  expect(needsOf(query)).toEqual(['a', 'b', 'c']);
});

test('evaluate() looks ahead for a limited number of elements', () => {
  const collection = Array.from({ length: 3 * LIMITS.prefetchElements }, (_, index) => `${index}`);
  const query = { map: { lambda: 's', expr: read({ var: 's' }) }, collection };
  expect(needsOf(query)).toHaveLength(LIMITS.prefetchElements + 1);
});

test('evaluate() stops looking ahead early if many elements have the same need, and lists it once', () => {
  const row: Need = { kind: 'row', address: { space: 'documents', key: 'k' as Key } };
  const asked: string[] = [];
  const session = pureSession('4', {
    auth: {
      ...pureSession().auth,
      keyFromSecret: (secret) => {
        asked.push(secret);
        throw new Suspended([row]);
      },
    },
  });
  const collection = Array.from({ length: 1000 }, (_, index) => `${index}`);
  const expr = read({ var: 's' });
  for (const query of [{ map: { lambda: 's', expr }, collection }, { do: collection.map(read) }]) {
    asked.length = 0;
    expect(needsOf(query, session)).toEqual(['row']);
    expect(asked.length).toBeLessThan(20);
  }
});

test('evaluate() collects the needs of the arguments of a function, last key first', () => {
  expect(needsOf({ select: [read('a')], from: read('b') })).toEqual(['b', 'a']);
});

test('evaluate() does not collect needs beyond a missing condition', () => {
  expect(
    needsOf(`{"if":${JSON.stringify(read('a'))},"then":1,"else":${JSON.stringify(read('c'))}}`),
  ).toEqual(['a']);
  expect(needsOf({ and: [read('a'), read('b')] })).toEqual(['a']);
});

test('evaluate() collects the needs of later expressions of a do', () => {
  expect(needsOf({ do: [read('a'), read('b')] })).toEqual(['a', 'b']);
});

test('evaluate() drops faults if any value is missing', () => {
  expect(needsOf([{ abort: 'x' }, read('a'), { abort: 'y' }])).toEqual(['a']);
});

test('evaluate() returns the result if no value is missing', () => {
  expect(shown([read('a'), read('b')], waitingSession(['a', 'b']))).toBe(
    '[{"secret":"a"},{"secret":"b"}]',
  );
});

test('evaluate() reports all faults of arrays and objects', () => {
  expect(shown([{ abort: 'a' }, { object: { x: { not: 1 }, y: { abort: 'b' } } }])).toEqual([
    'transaction aborted at [0]',
    'invalid argument at [1,"object","x","not"]',
    'transaction aborted at [1,"object","y"]',
  ]);
});

test('evaluate() reports only the first fault of a let, a do or a map', () => {
  expect(shown({ let: [{ a: { abort: 'a' } }, { b: { abort: 'b' } }], in: 1 })).toEqual([
    'transaction aborted at ["let",0,"a"]',
  ]);
  expect(shown({ do: [1, { abort: 'a' }, { abort: 'b' }] })).toEqual([
    'transaction aborted at ["do",1]',
  ]);
  const lambda = { lambda: 'x', expr: { not: { var: 'x' } } };
  expect(shown({ map: lambda, collection: [true, 1, 2] })).toEqual([
    'invalid argument at ["map","expr","not"]',
  ]);
});

test('evaluate() reports the first faulty argument in declared order, not in the order of evaluation', () => {
  expect(shown({ contains_field: 1, in: { abort: 'x' } })).toEqual([
    'invalid argument at ["contains_field"]',
  ]);
  expect(shown({ contains_field: { abort: 'x' }, in: [] })).toEqual([
    'transaction aborted at ["contains_field"]',
  ]);
});

test('evaluate() evaluates arguments last key first', () => {
  let ids = 0;
  const session = pureSession('4', { newId: () => String((ids += 1)) });
  const query = { prepend: [{ new_id: null }], collection: [{ new_id: null }] };
  expect(shown(query, session)).toBe('["2","1"]');
});

test('evaluate() ends `and` and `or` early from version 3 on', () => {
  expect(shown({ or: [true, { abort: 'x' }] })).toBe('true');
  expect(shown({ or: [true, { abort: 'x' }] }, pureSession('2.12'))).toEqual([
    'transaction aborted at ["or",1]',
  ]);
});

test('evaluate() evaluates `default` only if it is needed, from version 3 on', () => {
  const query = { select: 0, from: [7], default: { abort: 'x' } };
  expect(shown(query)).toBe('7');
  expect(shown(query, pureSession('2.12'))).toEqual(['transaction aborted at ["default"]']);
});

test('evaluate() reads at the time of `at`, or in the present if that time is in the future', () => {
  const times: unknown[] = [];
  const session = pureSession('4', {
    exists: (_, time) => {
      times.push(time);
      return true;
    },
  });
  const exists = { exists: { collections: null } };
  const past = SNAPSHOT - 5;
  run({ at: past, expr: exists }, session);
  run({ at: past, expr: { at: { now: null }, expr: exists } }, session);
  run({ at: SNAPSHOT + 1, expr: exists }, session);
  run({ at: past, expr: { exists: { collections: null }, ts: String(past - 1) } }, session);
  expect(times).toEqual([past, 'present', 'present', past - 1]);
});

test('evaluate() refuses a write where only reads are allowed', () => {
  const outcome = run({ do: [1, { new_id: null }] }, pureSession(), {
    allows: 'read',
    placeName: 'get requests',
  });
  expect(outcome).toEqual({
    faults: [
      {
        code: 'invalid expression',
        position: ['do', 1],
        description: 'Call performs a write, which is not allowed in get requests.',
      },
    ],
  });
});

test('evaluate() charges a step for each function call and each application of a lambda', () => {
  const session = pureSession();
  run({ map: { lambda: 'x', expr: { not: { var: 'x' } } }, collection: [true, false] }, session);
  expect(session.steps).toBe(1 + 2 * 2);
});

/** A session with one stored function, `f`. */
function callingSession(wire: string): WriteSession {
  const lambda = parseLambda(wire, '4');
  const session: WriteSession = pureSession('4', { functionBody: () => ({ lambda, session }) });
  return session;
}

test('call wraps faults of the function body, with positions in the body', () => {
  const session = callingSession('"lambda":["x"],"expr":{"not":{"var":"x"}}');
  expect(run({ call: 'f', arguments: [5] }, session)).toMatchObject({
    faults: [{ code: 'call error', position: [], cause: [{ position: ['expr', 'not'] }] }],
  });
  expect(run([{ call: 'f', arguments: [5, 6] }], session)).toMatchObject({
    faults: [{ code: 'call error', position: [0], cause: [{ position: [0, 'lambda'] }] }],
  });
});

test('calls that are nested too deeply end in a stack overflow fault that is not wrapped', () => {
  const session = callingSession('"lambda":"x","expr":{"if":true,"then":{"call":"f"},"else":1}');
  expect(shown({ call: 'f' }, session)).toEqual(['stack overflow at ["expr","then"]']);
});

test('calls of a deeply nested function end before the JavaScript stack overflows', () => {
  const tall = `${'{"not":'.repeat(400)}{"call":"f"}${'}'.repeat(400)}`;
  const session = callingSession(`"lambda":"x","expr":${tall}`);
  expect(String(shown({ call: 'f' }, session))).toMatch(/^stack overflow at /);
});

test('applyLambda() uses the variables of the scope in which the lambda was made', () => {
  const query = {
    let: { n: 4 },
    in: { query: { lambda: ['a'], expr: [{ var: 'a' }, { var: 'n' }] } },
  };
  const made = run(query);
  if (!('value' in made)) throw new Error('no lambda');
  const { value } = made;
  if (typeof value !== 'object' || value === null || !('captures' in value))
    throw new Error('none');
  expect(applyLambda(value, [3], pureSession())).toEqual([3, 4]);
  expect(value.captures).toEqual(new Map([['n', 4]]));
});

test('a lambda is rendered with its captured values, and can be read back', () => {
  const query = {
    let: { n: [1, { object: { '@x': null } }] },
    in: { query: { lambda: ['a'], expr: [{ var: 'a' }, { var: 'n' }] } },
  };
  const text = String(shown(query));
  expect(text).toBe(
    '{"@query":{"api_version":"4","lambda":["a"],"expr":{"let":{"n":[1,{"object":{"@obj":{"@x":null}}}]},"in":[{"var":"a"},{"var":"n"}]}}}',
  );
  const again = run(text);
  if (!('value' in again)) throw new Error('no lambda');
  const lambda = again.value;
  if (typeof lambda !== 'object' || lambda === null || !('captures' in lambda))
    throw new Error('none');
  expect(applyLambda(lambda, 3, pureSession())).toEqual([3, [1, new Map([['@x', null]])]]);
});
