import { expect, test, vi } from 'vitest';
import { coll, create, doc, obj } from '../../../engine/testing/engine-world.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';
import { accepted, type Device, type HubWorld } from '../../testing/hub-world.ts';
import { lambda, openThings, put, reads, role, THINGS } from '../../testing/things.ts';
import { NO_SCOPE } from '../rights/scope.ts';
import { MEMORY_CHARS } from './bounded-memory.ts';
import { ChangeHints, type ExpectedPull } from './change-hints.ts';
import { SharedPulls, type EvaluatedPull, type SharedPullsOptions } from './shared-pulls.ts';

const TOKEN = '00~5~5~aa';
const NOW = 10;

const device = (id: DeviceId) => ({ database: 0, device: id });

const answer = (change: Partial<Pulled> = {}): Pulled => ({
  epoch: 'e',
  cursor: 8,
  token: TOKEN,
  after: TOKEN,
  more: false,
  lastSeq: 0,
  verdicts: [],
  actor: { database: [], identity: undefined, role: 'admin', roles: [] },
  schema: undefined,
  puts: [[1026, '1', 'text']],
  leaves: [],
  sets: [],
  check: false,
  ...change,
});

const message: Pull = {
  device: 'a',
  epoch: 'e',
  cursor: 5,
  token: TOKEN,
  schema: undefined,
  sets: [],
  refetch: [],
  settled: 0,
  maxBytes: 1000,
};

const standing: ExpectedPull = {
  next: message,
  pulled: { actor: answer().actor, lastSeq: 3 },
  secret: 's',
  sharedRights: { name: '', until: NOW + 1 },
  kind: 1,
};

interface Crossing {
  /** ExpectedPull of the second device when it pulls. */
  readonly own?: Partial<ExpectedPull>;
  /** ExpectedPull of the second device after the first pull was evaluated. */
  readonly later?: Partial<ExpectedPull>;
  readonly evaluated?: Partial<EvaluatedPull>;
  readonly hasSeenAll?: boolean;
}

/** Two devices with the same cursor pull the same commit. @returns the evaluated pulls, and the answer to the second device */
async function pullTwice({ own, later, evaluated, hasSeenAll = true }: Crossing) {
  const first: EvaluatedPull = {
    outcome: { pulled: answer(), before: NO_SCOPE, scope: NO_SCOPE },
    standing,
    ...evaluated,
  };
  const standings = new Map([
    ['a', standing],
    ['b', own ? { ...standing, ...own } : standing],
  ]);
  const evaluate = vi.fn<SharedPullsOptions['evaluate']>(async () => first);
  const onSharedPull = vi.fn<ChangeHints['onSharedPull']>();
  const shared = new SharedPulls({
    hints: {
      standing: ({ device }) => standings.get(device),
      onSharedPull,
      hasSeenAll: () => hasSeenAll,
    },
    clock: () => NOW,
    random: (count) => new Uint8Array(count).fill(1),
    evaluate,
  });
  const one = shared.pull('s', device('a'), message);
  const other = shared.pull('s', device('b'), message);
  if (later) standings.set('b', { ...standing, ...later });
  await one;
  return { evaluations: evaluate.mock.calls.length, answer: await other, onSharedPull };
}

test('equal devices share one evaluated pull, but each gets its own verdicts, numbers and token', async () => {
  const verdicts = [{ seq: 1, ts: 1 }] as unknown as Pulled['verdicts'];
  const pulled = answer({ verdicts, lastSeq: 1, cursor: 9 });
  const evaluated = { outcome: { pulled, before: NO_SCOPE, scope: NO_SCOPE } };
  const found = await pullTwice({ evaluated });
  expect(found.evaluations).toBe(1);
  expect(found.answer).toMatchObject({ puts: pulled.puts, verdicts: [], lastSeq: 3, after: TOKEN });
  expect(found.answer.token).toBe('AQEBAQEB~5~5~aa');
  const { cursor, token } = found.answer;
  const next = { ...message, cursor, token };
  expect(found.onSharedPull).toHaveBeenCalledWith(device('b'), { ...standing, next });
});

const scope = { ...NO_SCOPE, rows: ['aa'] };
test.each<[why: string, crossing: Crossing]>([
  ['a commit concerned its rights before', { own: { sharedRights: undefined } }],
  ['a commit concerned its rights meanwhile', { later: { sharedRights: undefined } }],
  ['it pulled itself meanwhile', { later: {} }],
  ['it pulled with another credential', { own: { secret: 't' } }],
  ['its sets, schema or rights are others', { own: { kind: 2 } }],
  ['its rights have ended', { own: { sharedRights: { name: '', until: NOW } } }],
  [
    'the sets, the schema or the rights of the first changed',
    { evaluated: { standing: undefined } },
  ],
  [
    'the rights of the first were found to depend on more',
    { evaluated: { outcome: { pulled: answer(), before: NO_SCOPE, scope } } },
  ],
  ['a commit was overlooked', { hasSeenAll: false }],
])('a device gets a pull of its own when %s', async (_, crossing) => {
  const { evaluations, onSharedPull } = await pullTwice(crossing);
  expect(evaluations).toBe(2);
  expect(onSharedPull).not.toHaveBeenCalled();
});

test('a device gets a pull of its own when the pull of the first one was refused', async () => {
  const evaluate = vi.fn<SharedPullsOptions['evaluate']>(async () => {
    if (evaluate.mock.calls.length === 1) throw new Error('refused');
    return { outcome: { pulled: answer(), before: NO_SCOPE, scope: NO_SCOPE }, standing };
  });
  const hints = {
    standing: () => standing,
    onSharedPull: () => undefined,
    hasSeenAll: () => true,
  };
  const random = (count: number) => new Uint8Array(count);
  const shared = new SharedPulls({ hints, clock: () => NOW, random, evaluate });
  const one = shared.pull('s', device('a'), message);
  const other = shared.pull('s', device('b'), message);
  await expect(one).rejects.toThrow('refused');
  expect((await other).puts).toHaveLength(1);
});

test('evaluated pulls are kept until the next commit and bounded by size: the oldest are dropped first', async () => {
  const chars = MEMORY_CHARS / 10;
  const large = answer({ puts: [[1026, '1', 'x'.repeat(chars)]] });
  const standings = new Map<string, ExpectedPull>();
  for (let kind = 1; kind <= 20; kind++)
    for (const twin of ['a', 'b']) standings.set(`${twin}${kind}`, { ...standing, kind });
  let kind = 0;
  const evaluate = vi.fn<SharedPullsOptions['evaluate']>(async () => ({
    outcome: { pulled: large, before: NO_SCOPE, scope: NO_SCOPE },
    standing: { ...standing, kind },
  }));
  const shared = new SharedPulls({
    hints: {
      standing: ({ device: name }) => standings.get(name),
      onSharedPull: () => undefined,
      hasSeenAll: () => true,
    },
    clock: () => NOW,
    random: (count) => new Uint8Array(count),
    evaluate,
  });
  for (kind = 1; kind <= 20; kind++) await shared.pull('s', device(`a${kind}`), message);
  expect(evaluate).toHaveBeenCalledTimes(20);
  kind = 20;
  await shared.pull('s', device('b20'), message);
  expect(evaluate).toHaveBeenCalledTimes(20);
  kind = 1;
  await shared.pull('s', device('b1'), message);
  expect(evaluate).toHaveBeenCalledTimes(21);
  shared.onCommit();
  kind = 20;
  await shared.pull('s', device('a20'), message);
  expect(evaluate).toHaveBeenCalledTimes(22);
});

// --- which devices a commit may concern, over a hub --------------------------------------------------

const listening = async (world: HubWorld, secret: string): Promise<Device> => {
  const own = (await world.device(secret)).watch(THINGS);
  accepted(
    await world.sync.subscribe(secret, own.id, ({ brought }) => {
      if (brought && brought.since === own.cursor) own.take(brought.pulled);
    }),
  );
  await own.pull();
  return own;
};
const team = (of: unknown) => ({ select: ['data', 'team'], from: { get: of }, default: 0 });

test('pulls are not shared if rights depend on the clock', async () => {
  const sharing = vi.spyOn(ChangeHints.prototype, 'onSharedPull');
  const world = await openThings();
  const isNow = lambda({ lt: [{ time: '2020-01-01T00:00:00Z' }, { time: 'now' }] });
  await world.ask(role([reads(coll('things'), isNow)]));
  const secret = await world.user(1);
  const devices = [await listening(world, secret), await listening(world, secret)];
  for (const id of [1, 2]) {
    await put(world, id);
    await expect.poll(() => devices.map(({ documents }) => documents.size)).toEqual([id, id]);
  }
  expect(sharing).not.toHaveBeenCalled();
  sharing.mockRestore();
});

test('devices do not share a pull if only the rights of one were seen to depend on a document', async () => {
  const world = await openThings();
  await world.ask({ create_collection: obj({ name: 'teams' }) });
  await world.ask(create(doc('teams', 1), { open: true }));
  const open = { select: ['data', 'open'], from: { get: doc('teams', 1) }, default: false };
  const isOpen = lambda({ or: [{ not: { equals: [team({ var: 'ref' }), 1] } }, open] });
  await world.ask(role([reads(coll('things'), isOpen)]));
  const secret = await world.user(1);
  await put(world, 1, { team: 1 });
  const first = await listening(world, secret);
  await world.ask({ delete: doc('things', 1) });
  const second = await listening(world, secret);
  await put(world, 2, { team: 2 });
  await expect.poll(() => [first.documents.size, second.documents.size]).toEqual([1, 1]);
  expect(first.cursor).toBe(second.cursor);
  await put(world, 3, { team: 1 });
  await expect.poll(() => [first.documents.size, second.documents.size]).toEqual([2, 2]);
  await world.ask({ update: doc('teams', 1), params: obj({ data: obj({ open: false }) }) });
  await second.pull();
  expect(second.mustCheck).toBe(true);
});
