import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { ChangeHint } from '../../protocol/hints.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import { HUB_TIME_MAX } from '../../protocol/identifiers.ts';
import type { Actor, Checked, Pulled } from '../../protocol/messages.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';
import { ADMIN, answerFor, WELCOMED, DeviceWorld } from '../../testing/device-world.ts';
import type { Replica } from '../replica/replica.ts';
import type { WriteRecord } from '../state/outbox-record.ts';
import type { Signal } from './signal.ts';
import type { ReplicaProgress } from './syncer-options.ts';
import type { SyncState } from '../../../states.ts';
import { Syncer } from './syncer.ts';
import { ForeignAnswer, RetryLater, type ListenEvents, type Transport } from './transport.ts';

const DEVICE = 'd'.repeat(32);

const wait = (ms: number, signal: Signal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.onRaised(() => {
      clearTimeout(timer);
      resolve();
    });
  });

/** A hub that answers only what a test tells it to. */
class FakeHub implements Transport {
  readonly asked: string[] = [];
  readonly listeners: ListenEvents[] = [];
  /** Called before each answer. If it rejects, so does the request. */
  trouble: (() => Promise<void>) | undefined = undefined;
  /** The answer to hello, if it is refused. */
  refusal: SyncRefusal | undefined = undefined;
  /** The epoch in answers to hello. */
  epoch = 'e';
  /** The actor in its answers. */
  actor: Actor = ADMIN;
  /** Number of the last write by device id. */
  readonly lastSeqs = new Map<string, number>();
  /** Maximum number of writes judged per push. */
  judgesAtMost = Infinity;
  /** The device id of each write that came. */
  readonly pushedBy: string[] = [];
  cursor = 1;
  /** The sets in each answer to a pull. */
  sets: Pulled['sets'] = [];
  isUnsure = false;
  /** The answer to each comparison. */
  differing: Checked['differing'] = [];
  /** The number of documents that each pull requested by name. */
  readonly refetched: number[] = [];
  /** The number of sets in each pull. */
  readonly pulledSets: number[] = [];

  async hello({ device }: Parameters<Transport['hello']>[0]) {
    await this.meet('hello');
    if (this.refusal) return { ok: false, refusal: this.refusal } as const;
    const welcome = {
      protocol: 2,
      device,
      epoch: this.epoch,
      hubTime: Date.now() * 1000,
      lastSeq: this.lastSeqs.get(device) ?? 0,
      actor: this.actor,
      expiresAt: undefined,
      passwordSetAt: undefined,
      idKey: WELCOMED.idKey,
    };
    return { ok: true, value: welcome } as const;
  }
  async push({ device, items }: Parameters<Transport['push']>[0]): ReturnType<Transport['push']> {
    await this.meet('push');
    const judged = items.slice(0, this.judgesAtMost);
    this.pushedBy.push(...judged.map(() => device));
    const verdicts = judged.map(
      ({ seq, hash }) =>
        ({ seq, hash, state: 'confirmed', ts: Date.now() * 1000, body: undefined }) as const,
    );
    const lastSeq = Math.max(judged.at(-1)?.seq ?? 0, this.lastSeqs.get(device) ?? 0);
    this.lastSeqs.set(device, lastSeq);
    return { ok: true, value: { lastSeq, verdicts } } as const;
  }
  async pull({
    device,
    token,
    refetch,
    sets: asked,
  }: Parameters<Transport['pull']>[0]): ReturnType<Transport['pull']> {
    this.refetched.push(refetch.length);
    this.pulledSets.push(asked.length);
    await this.meet('pull');
    const { sets, isUnsure: check } = this;
    const isTold = check || token !== undefined;
    const tokens = isTold && { after: token, token: `t${this.cursor}` };
    const lastSeq = this.lastSeqs.get(device) ?? 0;
    return { ok: true, value: { ...this.pulled(), lastSeq, ...tokens, sets, check } } as const;
  }
  async check() {
    await this.meet('check');
    return { ok: true, value: { differing: this.differing } } as const;
  }
  listen(_device: string, events: ListenEvents) {
    this.asked.push('listen');
    this.listeners.push(events);
    return () => {
      this.asked.push('deafen');
    };
  }

  pulled(): Pulled {
    return {
      epoch: 'e',
      cursor: ++this.cursor,
      more: false,
      lastSeq: 0,
      verdicts: [],
      actor: ADMIN,
      schema: undefined,
      puts: [],
      leaves: [],
      sets: [],
      check: false,
    };
  }

  poke(poke: ChangeHint = { head: this.cursor }): void {
    this.listeners.at(-1)?.onHint(poke);
  }

  private async meet(what: string): Promise<void> {
    this.asked.push(what);
    await this.trouble?.();
  }
}

const closers: (() => Promise<void>)[] = [];

/** Starts a syncer. @param takeFence replaces how the fence is taken */
async function begin(
  takeFence?: (work: () => Promise<number>) => Promise<number>,
  { stored, told }: { readonly stored: Actor; readonly told: Actor } = {
    stored: ADMIN,
    told: ADMIN,
  },
) {
  const world = new DeviceWorld();
  const hub = new FakeHub();
  hub.actor = told;
  await world.replica.adopt('hub', { ...WELCOMED, actor: stored }, DEVICE);
  const states: SyncState[] = [];
  const reasons: string[] = [];
  const progress: ReplicaProgress[] = [];
  const faults: unknown[] = [];
  const rounds: number[] = [];
  const verdicts: WriteRecord[] = [];
  const replica: Replica = Object.create(world.replica) as Replica;
  if (takeFence) replica.takeFence = () => takeFence(() => world.replica.takeFence());
  const syncer = new Syncer({
    replica,
    transport: hub,
    clock: () => Date.now() * 1000,
    wallClock: () => Date.now(),
    random: () => 0.5,
    wait,
    events: {
      onState: (state, reason) => {
        states.push(state);
        if (reason) reasons.push(reason.description);
      },
      onVerdict: (record) => verdicts.push(record),
      onFiles: () => undefined,
      onProgress: (each) => progress.push(each),
      onRound: (since) => rounds.push(since),
      onSuperseded: () => undefined,
      onFault: (reason) => faults.push(reason),
    },
  });
  syncer.start();
  closers.push(() => syncer.stop());
  return { world, hub, syncer, states, reasons, progress, faults, rounds, verdicts };
}

/** A syncer that is live, whose writes the hub all knows. */
async function start() {
  const begun = await begin();
  await until(() => expect(begun.syncer.state).toBe('live'));
  begun.hub.asked.length = 0;
  return begun;
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Each turn is one millisecond of fake time. `vi.waitFor` measures real time, so more fake time would pass on a slow machine. */
async function until(look: () => unknown, turns = 10_000): Promise<void> {
  for (let turn = 0; ; turn++) {
    try {
      await look();
      return;
    } catch (reason) {
      if (turn === turns) throw reason;
    }
    await pass(1);
  }
}
const CREATE = { create_collection: { object: { name: 'notes' } } };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  vi.useRealTimers();
});

test('a stream that is silent for longer than two heartbeats is replaced by a new one', async () => {
  const { hub } = await start();
  // Some of the time has passed until the syncer was live.
  await pass(SYNC_LIMITS.silenceMs - 1000);
  expect(hub.asked).toEqual([]);
  await pass(1000);
  expect(hub.asked).toEqual(['deafen', 'listen', 'pull']);
  expect(hub.listeners).toHaveLength(2);
});

test('while heartbeats arrive, the syncer keeps the stream and pulls only about once a minute', async () => {
  const { hub } = await start();
  hub.listeners.at(-1)?.onActivity();
  await until(() => expect(hub.asked).toEqual(['pull']));
  hub.asked.length = 0;
  for (let ms = 0; ms < 60_000; ms += SYNC_LIMITS.heartbeatMs) {
    hub.listeners.at(-1)?.onActivity();
    await pass(SYNC_LIMITS.heartbeatMs);
  }
  hub.listeners.at(-1)?.onActivity();
  await pass(SYNC_LIMITS.heartbeatMs);
  expect(hub.asked).toEqual(['pull']);
});

test('the syncer pulls as soon as the stream has begun, because commits before it may be missing', async () => {
  const { hub } = await start();
  hub.listeners.at(-1)?.onActivity();
  await until(() => expect(hub.asked).toEqual(['pull']));
});

test('a stream that worked and then ended is reopened at once', async () => {
  const { hub } = await start();
  const [first] = hub.listeners;
  first?.onActivity();
  first?.onActivity();
  first?.onEnd();
  await pass(0);
  expect(hub.asked).toEqual(['listen', 'pull']);
});

test('a stream that ends right after it began is reopened only ten seconds later', async () => {
  const { hub } = await start();
  hub.listeners.at(-1)?.onActivity();
  hub.listeners.at(-1)?.onEnd();
  await pass(0);
  expect(hub.asked).toEqual(['pull']);
  hub.asked.length = 0;
  await pass(9999);
  expect(hub.asked).toEqual([]);
  await pass(1);
  expect(hub.asked).toEqual(['listen', 'pull']);
});

test('a pull in a hint is applied without a request', async () => {
  const { hub, world } = await start();
  const since = hub.cursor;
  hub.poke({ head: since + 1, brought: { since, pulled: hub.pulled() } });
  await until(async () => expect((await world.replica.state())?.cursor).toBe(since + 1));
  expect(hub.asked).toEqual([]);
  hub.poke({ head: since + 9, brought: { since: since + 5, pulled: hub.pulled() } });
  await until(() => expect(hub.asked).toEqual(['pull']));
});

test('hints that arrive during a pull are applied after it, in order', async () => {
  const { hub, world } = await start();
  let answer = (): void => undefined;
  hub.trouble = () => new Promise((resolve) => (answer = resolve));
  hub.poke();
  await until(() => expect(hub.asked).toEqual(['pull']));
  const since = hub.cursor + 1;
  hub.trouble = undefined;
  const pulls = [since, since + 1].map((cursor) => ({ ...hub.pulled(), cursor: cursor + 1 }));
  hub.cursor = since - 1;
  for (const [i, pulled] of pulls.entries())
    hub.poke({ head: pulled.cursor, brought: { since: since + i, pulled } });
  answer();
  await until(async () => expect((await world.replica.state())?.cursor).toBe(since + 2));
  expect(hub.asked).toEqual(['pull']);
});

test('after a network failure the syncer sends its writes, although a hint from before could be applied', async () => {
  const { hub, syncer, world, states } = await start();
  await world.submit(CREATE);
  hub.trouble = () => {
    const since = hub.cursor;
    hub.poke({
      head: since + 1,
      brought: { since, pulled: { ...hub.pulled(), cursor: since + 1 } },
    });
    hub.trouble = undefined;
    return Promise.reject(new Error('no network'));
  };
  syncer.kick();
  await until(() => expect(states.at(-1)).toBe('offline'));
  await until(() => expect(states.at(-1)).toBe('live'));
  expect(hub.pushedBy).toEqual([DEVICE]);
});

test('the remaining writes are sent even if a hint contains all there is to pull', async () => {
  const { hub, syncer, world } = await start();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    await world.submit({ create_collection: { object: { name } } });
  hub.judgesAtMost = 1;
  let isTold = false;
  const apply = world.replica.apply.bind(world.replica);
  vi.spyOn(world.replica, 'apply').mockImplementation(async (...answer) => {
    const applied = await apply(...answer);
    const since = hub.cursor;
    // Another device writes while the answer is being stored.
    const isFirst = !isTold && hub.pushedBy.length === 4;
    isTold ||= isFirst;
    if (isFirst) hub.poke({ head: since + 1, brought: { since, pulled: hub.pulled() } });
    return applied;
  });
  syncer.kick();
  await until(() => expect(hub.pushedBy).toHaveLength(6), 1000);
});

test('if large requests fail, writes are pushed and documents pulled in smaller parts', async () => {
  const { hub, syncer, world } = await start();
  for (let n = 0; n < 8; n++)
    await world.submit({
      create_collection: { object: { name: `c${n}`, data: { object: { x: 'x'.repeat(3e5) } } } },
    });
  const [push, pull] = [hub.push.bind(hub), hub.pull.bind(hub)];
  const bear = (chars: number, max: number): void => {
    if (chars > max) throw new Error('The hub responded with status 413.');
  };
  vi.spyOn(hub, 'push').mockImplementation(async (message) => {
    bear(JSON.stringify(message).length, 1e6);
    return push(message);
  });
  const asked: number[] = [];
  const pulls = vi.spyOn(hub, 'pull').mockImplementation(async (message) => {
    asked.push(message.maxBytes);
    bear(message.maxBytes, 1e6);
    return pull(message);
  });
  syncer.kick();
  await until(() => expect(hub.pushedBy).toHaveLength(8), 60_000);
  await until(() => expect(syncer.state).toBe('live'));
  expect(asked.at(-1)).toBeLessThan(1e6);
  // The network may have been the cause: after a while, larger answers are requested.
  pulls.mockImplementation(pull);
  for (let n = 0; n < 100; n++) {
    hub.poke();
    await pass(10);
  }
  expect(pulls.mock.lastCall?.[0].maxBytes).toBe(SYNC_LIMITS.pullBytes);
});

test('if a proxy refuses a write as too long, the reason is reported and pulls continue', async () => {
  const { hub, syncer, world, states, reasons } = await start();
  const data = { object: { x: 'x'.repeat(3e5) } };
  await world.submit({ create_collection: { object: { name: 'long', data } } });
  await world.submit(CREATE);
  const push = hub.push.bind(hub);
  let longest = 1e5;
  vi.spyOn(hub, 'push').mockImplementation(async (message) => {
    if (JSON.stringify(message).length > longest)
      throw new Error('The hub responded with status 413.');
    return push(message);
  });
  syncer.kick();
  await until(() => expect(reasons).not.toEqual([]), 60_000);
  expect(states.at(-1)).toBe('offline');
  expect(reasons[0]).toMatch(/\(30\d{4} characters\) .* 8 MiB.*status 413/);
  const pulls = hub.refetched.length;
  await until(() => expect(hub.refetched.length).toBeGreaterThan(pulls + 1), 180_000);
  const waiting = async () =>
    (await world.replica.writes()).filter(({ verdict }) => !verdict).length;
  expect(await waiting()).toBe(2);
  longest = Infinity;
  await until(() => expect(states.at(-1)).toBe('live'), 120_000);
  expect(await waiting()).toBe(0);
});

test('a refusal on the device itself is reported as the reason for being offline', async () => {
  const { hub, syncer, states, reasons } = await start();
  hub.trouble = () => Promise.reject(new Refusal('quota_exceeded', 'No room is left.'));
  syncer.kick();
  await until(() => expect(states.at(-1)).toBe('offline'));
  expect(reasons).toEqual(['No room is left.']);
});

test('an answer of a server that is not the hub is reported as the reason for being offline', async () => {
  const { hub, syncer, states, reasons } = await start();
  const why = 'The response, with status 200, is not from a hub.';
  hub.trouble = () => Promise.reject(new ForeignAnswer(why));
  syncer.kick();
  await until(() => expect(states.at(-1)).toBe('offline'));
  expect(reasons).toEqual([why]);
});

/** Answers that bring sync no further, in place of those of the hub, and what is told of them. */
const FRUITLESS: readonly [string, RegExp, (hub: FakeHub) => Partial<Transport>][] = [
  [
    'a push gets the answer to an earlier one',
    /to another request/,
    () => {
      const hash = 'f'.repeat(64);
      const verdicts = [{ seq: 1, hash, state: 'confirmed', ts: 1, body: undefined }] as const;
      return { push: () => Promise.resolve({ ok: true, value: { lastSeq: 1, verdicts } }) };
    },
  ],
  [
    'a push gets no verdict',
    /could not execute the oldest unsent write/,
    () => ({ push: () => Promise.resolve({ ok: true, value: { lastSeq: 0, verdicts: [] } }) }),
  ],
  [
    'a pull gets the answer to an earlier one',
    /to another request/,
    (hub) => ({
      pull: () => Promise.resolve({ ok: true, value: { ...hub.pulled(), after: 'earlier' } }),
    }),
  ],
  [
    'a pull gets nothing, but is told that there is more',
    /more to pull/,
    (hub) => ({
      pull: ({ cursor = 0, token }) => {
        const same = { cursor, lastSeq: 1, more: true, after: token, token: `then ${token}` };
        return Promise.resolve({ ok: true, value: { ...hub.pulled(), ...same } });
      },
    }),
  ],
];

test.each(FRUITLESS)(
  'if %s, sync pauses longer and longer, and the reason is reported',
  async (_, reason, answers) => {
    const { hub, syncer, world, states, reasons, verdicts } = await start();
    const given = { push: hub.push.bind(hub), pull: hub.pull.bind(hub), ...answers(hub) };
    let count = 0;
    /** A busy loop would go on in microtasks, so that no fake time would pass. */
    const counted = async <T>(answer: () => Promise<T>): Promise<T> => {
      if (++count > 500) throw new Error('A busy loop.');
      return answer();
    };
    const asked = [
      vi.spyOn(hub, 'push').mockImplementation((push) => counted(() => given.push(push))),
      vi.spyOn(hub, 'pull').mockImplementation((pull) => counted(() => given.pull(pull))),
    ];
    await world.submit(CREATE);
    syncer.kick();
    await until(() => expect(states.at(-1)).toBe('offline'));
    expect(reasons.at(-1)).toMatch(reason);
    await pass(120_000);
    expect(count).toBeLessThan(60);
    // The proxy is gone, or the hub is well again.
    for (const each of asked) each.mockRestore();
    await until(() => expect(states.at(-1)).toBe('live'), 120_000);
    expect(verdicts).toHaveLength(1);
  },
);

test('a write made offline is reported as pending at once, while the hub does not answer', async () => {
  const { world, hub, syncer, states, progress } = await start();
  hub.trouble = () => Promise.reject(new Error('no network'));
  syncer.kick();
  await until(() => expect(states.at(-1)).toBe('offline'));
  await pass(600);
  // From here on, no answer comes at all.
  hub.trouble = () => new Promise(() => undefined);
  progress.length = 0;
  await world.submit(CREATE);
  syncer.kick();
  await until(() => expect(progress.at(-1)).toMatchObject({ pending: 1 }));
  await world.submit({ create_collection: { object: { name: 'more' } } });
  syncer.kick();
  await until(() => expect(progress.at(-1)).toMatchObject({ pending: 2 }));
  closers.length = 0;
});

test('progress counts a write as pending until its verdict', async () => {
  const { world, syncer, progress } = await start();
  progress.length = 0;
  await world.submit(CREATE);
  syncer.kick();
  await until(() => expect(progress.map(({ pending }) => pending)).toEqual([1, 0]));
});

test('after RetryLater the syncer waits for the time it names, five minutes at most, despite kicks', async () => {
  const { hub, syncer, states } = await start();
  hub.trouble = () => Promise.reject(new RetryLater('busy', 40_000));
  syncer.kick();
  await until(() => expect(states.at(-1)).toBe('offline'));
  hub.asked.length = 0;
  for (let seconds = 0; seconds < 39; seconds++) {
    syncer.kick();
    await pass(1000);
  }
  expect(hub.asked).toEqual([]);
  hub.trouble = () => Promise.reject(new RetryLater('busy', 1e12));
  await pass(1000);
  expect(hub.asked).toEqual(['hello']);
  await pass(299_000);
  expect(hub.asked).toEqual(['hello']);
  hub.trouble = undefined;
  syncer.kick();
  await pass(2000);
  await until(() => expect(states.at(-1)).toBe('live'));
});

test('a copy that lost its last writes sends its other writes before it takes a new device id', async () => {
  const { world, hub, syncer, states } = await start();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    await world.submit({ create_collection: { object: { name } } });
  hub.judgesAtMost = 1;
  hub.lastSeqs.set(DEVICE, 99);
  hub.trouble = () => Promise.reject(new Error('no network'));
  syncer.kick();
  await vi.waitFor(() => expect(states.at(-1)).toBe('offline'));
  hub.trouble = undefined;
  await pass(10_000);
  await vi.waitFor(() => expect(states.at(-1)).toBe('live'));
  expect(hub.pushedBy).toEqual(Array<string>(6).fill(DEVICE));
  expect((await world.replica.state())?.device).not.toBe(DEVICE);
});

test('a device that the hub has pruned reports the reason, and sends its unsent writes under a new id', async () => {
  const { world, hub, syncer, states, reasons } = await start();
  hub.trouble = () => Promise.reject(new Error('no network'));
  syncer.kick();
  await until(() => expect(states.at(-1)).toBe('offline'));
  await world.submit(CREATE);
  hub.trouble = undefined;
  hub.refusal = { code: 'device_expired', description: 'not met for long' };
  await until(() => expect(reasons).toContain('not met for long'));
  hub.refusal = undefined;
  await until(() => expect(hub.pushedBy).toHaveLength(1));
  expect(hub.pushedBy).not.toEqual([DEVICE]);
  await until(() => expect(states.at(-1)).toBe('live'));
  expect((await world.replica.writes()).map(({ state }) => state)).toEqual(['confirmed']);
});

test('after upgrade_needed the syncer stays offline, keeps its writes, and sends them once the hub accepts its protocol', async () => {
  const { world, hub, syncer, states } = await start();
  hub.refusal = { code: 'upgrade_needed', description: 'This hub supports protocol 3 only.' };
  // The session ends, so hello is sent first.
  hub.trouble = () => Promise.reject(new Error('no network'));
  syncer.kick();
  await until(() => expect(states.at(-1)).toBe('offline'));
  hub.trouble = undefined;
  await world.submit(CREATE);
  hub.asked.length = 0;
  await pass(10_000);
  await until(() => expect(hub.asked).toContain('hello'));
  expect([hub.pushedBy, states.at(-1)]).toEqual([[], 'offline']);
  expect((await world.replica.writes()).map(({ state }) => state)).toEqual(['local']);
  hub.refusal = undefined;
  await pass(600_000);
  await until(() => expect(hub.pushedBy).toEqual([DEVICE]));
  expect((await world.replica.writes()).map(({ state }) => state)).toEqual(['confirmed']);
});

const broken = new Error('the store is busy');

test('if the store fails to give a fence, the syncer retries with longer pauses and sends nothing before', async () => {
  const triedAt: number[] = [];
  const { hub, syncer, world, faults } = await begin((work) => {
    triedAt.push(Date.now());
    return triedAt.length < 3 ? Promise.reject(broken) : work();
  });
  await until(() => expect(triedAt).toHaveLength(2));
  // A kick does not make the retry earlier, because it does not repair the store.
  syncer.kick();
  await pass(1);
  expect(triedAt).toHaveLength(2);
  expect(hub.asked).toEqual([]);
  await until(() => expect(syncer.state).toBe('live'));
  const [first = 0, second = 0, third = 0] = triedAt;
  expect([second - first, third - second]).toEqual([750, 1500]);
  expect(triedAt).toHaveLength(3);
  expect(faults).toEqual([broken, broken]);
  expect((await world.replica.state())?.fence).toBe(1);
});

test('a store without room for the fence is reported as the reason for being offline', async () => {
  const full = new Refusal('quota_exceeded', 'No room is left.');
  let isFull = true;
  const begun = await begin((work) => (isFull ? Promise.reject(full) : work()));
  const { syncer, states, reasons } = begun;
  await until(() => expect(states).toEqual(['offline']));
  expect(reasons).toEqual(['No room is left.']);
  isFull = false;
  await until(() => expect(syncer.state).toBe('live'));
  expect(states.slice(-2)).toEqual(['catching-up', 'live']);
});

test('a syncer that is stopped before it has a fence ends at once and takes none', async () => {
  const { hub, syncer, world, faults } = await begin(() => Promise.reject(broken));
  await until(() => expect(faults).toHaveLength(1));
  await syncer.stop();
  await pass(60_000);
  expect(faults).toHaveLength(1);
  expect(hub.asked).toEqual([]);
  expect((await world.replica.state())?.fence).toBe(0);
});

test('a comparison is repeated if the sets changed before its differences were stored', async () => {
  const { world, hub, syncer } = await start();
  const [notes, tasks] = [1024, 1025].map((collection) =>
    answerFor(`${collection}`, [{ kind: 'collection', collection }], { of: 0 }),
  );
  if (!notes || !tasks) throw new Error('two sets');
  const put = (sets: Pulled['sets']) => {
    hub.sets = sets;
    return world.replica.setSets(sets.map(({ id }) => ({ id, query: id })));
  };
  await put([notes, tasks]);
  hub.isUnsure = true;
  hub.differing = [{ bucket: 0, documents: [[1024, '1', 5]] }];
  hub.trouble = async () => {
    if (hub.asked.at(-1) === 'check') hub.isUnsure = false;
    if (hub.asked.at(-1) !== 'pull' || hub.refetched.at(-1) !== 1) return;
    hub.trouble = undefined;
    await put([notes]);
  };
  hub.refetched.length = 0;
  syncer.kick();
  await until(() => expect(hub.refetched.filter((count) => count === 1)).toHaveLength(2));
  await until(async () => expect((await world.replica.state())?.suspectSince).toBe(undefined));
});

describe('a set loaded in pages', () => {
  const notes = { id: 'notes', parts: [{ kind: 'collection', collection: 1024 } as const] };
  const PAGES = ['01', '02', undefined];
  let begun: Awaited<ReturnType<typeof start>> | undefined;

  /** @param onPull called with the number of pulls, including this one @param onApply called with it before an answer is stored */
  async function load({
    onPull = () => undefined,
    onApply = () => undefined,
  }: {
    readonly onPull?: (pulls: number) => void;
    readonly onApply?: (pulls: number, world: DeviceWorld) => unknown;
  }) {
    const { world, hub, syncer } = (begun = await start());
    await world.replica.setSets([{ id: notes.id, query: notes.id }]);
    const pulls = () => hub.asked.filter((what) => what === 'pull').length;
    hub.trouble = async () => {
      if (hub.asked.at(-1) !== 'pull') return;
      const kept = (await world.replica.state())?.sets ?? [];
      hub.sets = kept.map(({ id }) => {
        const loaded = [id === notes.id ? PAGES[pulls() - 1] : undefined];
        return answerFor(id, notes.parts, { loaded });
      });
      onPull(pulls());
    };
    const apply = world.replica.apply.bind(world.replica);
    vi.spyOn(world.replica, 'apply').mockImplementation(async (...answer) => {
      await onApply(pulls(), world);
      return apply(...answer);
    });
    syncer.kick();
    await until(async () => {
      expect(syncer.state).toBe('live');
      expect((await world.replica.state())?.sets.every(isLoaded)).toBe(true);
    });
    return { ...begun, pulls };
  }

  test('requests the next page while the current one is stored, and each page once', async () => {
    const asked: number[] = [];
    const { pulls } = await load({ onApply: (count) => asked.push(count) });
    expect(asked).toEqual([2, 3, 3]);
    expect(pulls()).toBe(3);
  });

  test('discards the page requested ahead if the sets have changed', async () => {
    const { hub } = await load({
      onApply: (count, world) => {
        if (count > 2) return undefined;
        const sets = [notes.id, 'tasks'].map((id) => ({ id, query: id }));
        return world.replica.setSets(sets);
      },
    });
    expect(hub.pulledSets.slice(-3)).toEqual([1, 1, 2]);
  });

  test('is followed by another pull if a hint arrives after its last page was requested', async () => {
    let isTold = false;
    const { pulls } = await load({
      onApply: (count) => {
        if (count === 3 && !isTold) begun?.hub.poke();
        isTold ||= count === 3;
      },
    });
    await until(() => expect(pulls()).toBe(4), 100);
  });

  test('dates from the request for its last page, not from when that was stored', async () => {
    let askedAt = 0;
    const { rounds } = await load({
      onPull: (count) => {
        if (count === 3) askedAt = Date.now();
      },
      onApply: () => pass(5000),
    });
    expect(rounds.at(-1)).toBeLessThanOrEqual(askedAt);
  });

  test('continues where it was if the request for the next page fails', async () => {
    const { states } = await load({
      onPull: (count) => {
        if (count === 2) throw new TypeError('Failed to fetch');
      },
    });
    expect(states).toContain('offline');
  });
});

test.each(['needs_login', 'locked'] as const)(
  'the syncer says hello again if somebody logs in while hello is refused as %s',
  async (code) => {
    const { hub, syncer } = await begin();
    hub.refusal = { code, description: 'No.' };
    let hellos = 0;
    hub.trouble = async () => {
      hellos += 1;
      if (hellos === 1) syncer.kick();
      else hub.refusal = undefined;
    };
    await until(() => expect(syncer.state).toBe('live'), 1000);
  },
);

test('a hub that cannot answer now is not asked more often because of kicks, and says why', async () => {
  const { hub, syncer, reasons } = await begin();
  hub.refusal = { code: 'quota_exceeded', description: 'The disk is full.' };
  await until(() => expect(syncer.state).toBe('offline'), 1000);
  for (let kicks = 0; kicks < 40; kicks++) {
    syncer.kick();
    await pass(10);
  }
  expect(hub.asked).toEqual(['hello']);
  expect(reasons).toEqual(['The disk is full.']);
  hub.refusal = undefined;
  await until(() => expect(syncer.state).toBe('live'), 1000);
});

test.each(['quota_exceeded', 'storage_unavailable'])(
  'while the hub can store nothing (%s), pulls continue and pushes wait',
  async (code) => {
    const { hub, syncer, world, states, reasons, rounds } = await start();
    await world.submit(CREATE);
    const refusal = { code, description: 'The disk is full.' };
    const push = vi.spyOn(hub, 'push').mockImplementation(async () => {
      hub.asked.push('push');
      return { ok: false, refusal } as const;
    });
    const before = rounds.length;
    syncer.kick();
    await until(() => expect(reasons).toEqual(['The disk is full.']), 1000);
    expect(hub.asked.slice(0, 2)).toEqual(['push', 'pull']);
    expect(rounds).toHaveLength(before + 1);
    expect(states.at(-1)).toBe('offline');
    hub.asked.length = 0;
    await pass(60_000);
    const pushes = hub.asked.filter((what) => what === 'push').length;
    expect(pushes).toBeLessThan(10);
    expect(hub.asked.filter((what) => what === 'pull')).toHaveLength(pushes);
    push.mockRestore();
    await until(() => expect(syncer.state).toBe('live'), 120_000);
    expect(hub.pushedBy).toEqual([DEVICE]);
  },
);

test('a push that the hub refuses for too many requests is not followed by a pull', async () => {
  const { hub, syncer, world, states } = await start();
  await world.submit(CREATE);
  const refusal = { code: 'too many requests', description: 'Too many.' };
  vi.spyOn(hub, 'push').mockResolvedValue({ ok: false, refusal, retryAfterMs: 5000 });
  syncer.kick();
  await until(() => expect(states.at(-1)).toBe('offline'), 1000);
  expect(hub.asked).not.toContain('pull');
});

test('a kick while the hub refuses the device causes one more hello, not many', async () => {
  const { hub, syncer } = await begin();
  hub.refusal = { code: 'too_many_devices', description: 'Too many.' };
  let hellos = 0;
  hub.trouble = async () => {
    hellos += 1;
    if (hellos > 9) hub.refusal = undefined;
  };
  await until(() => expect(syncer.state).toBe('offline'), 1000);
  syncer.kick();
  await pass(1000);
  expect(hub.asked).toEqual(['hello', 'hello']);
});

test.each(['another history', 'another device'])(
  'the syncer pauses between hellos to hubs at one address that do not know each other: %s',
  async (what) => {
    const { hub } = await begin();
    let hellos = 0;
    hub.trouble = async () => {
      if (hub.asked.at(-1) !== 'hello') return;
      hellos += 1;
      const isOther = hellos % 2 === 1 && hellos < 40;
      if (what === 'another history') hub.epoch = isOther ? 'f' : 'e';
      else
        hub.refusal =
          hellos < 40 ? { code: 'device_taken', description: 'Of another.' } : undefined;
    };
    await pass(10_000);
    expect(hellos).toBeGreaterThan(2);
    expect(hellos).toBeLessThan(7);
  },
);

test('a superseded syncer locks nothing and reports no state', async () => {
  const { world, hub, syncer, states } = await begin();
  hub.refusal = { code: 'locked', description: 'The credential was revoked.' };
  hub.trouble = async () => {
    await world.replica.takeFence();
  };
  await until(() => expect(hub.asked).toEqual(['hello']));
  await pass(1000);
  expect((await world.replica.state())?.isLocked).toBe(false);
  expect(states).not.toContain('locked');
  await syncer.stop();
});

test.each([
  ['7 ann', '7 ann', 'live'],
  ['7 ann', '7 bob', 'needs-login'],
  [undefined, '7 ann', 'needs-login'],
  ['7 ann', undefined, 'needs-login'],
] as const)('a copy of %s whose hub names the subject %s: %s', async (mine, named, state) => {
  const actorOf = (subject: string | undefined): Actor => ({ ...ADMIN, role: 'roles', subject });
  const { syncer } = await begin(undefined, { stored: actorOf(mine), told: actorOf(named) });
  await until(() => expect(syncer.state).toBe(state), 1000);
});

test.each([Date.UTC(2100, 0) * 1000, HUB_TIME_MAX])(
  'a copy continues after a hub has claimed that its last commit was at %i',
  async (cursor) => {
    const { hub, syncer, world, verdicts } = await start();
    hub.cursor = cursor - 1;
    syncer.kick();
    await until(async () => expect((await world.replica.state())?.cursor).toBe(cursor));
    hub.cursor = 10;
    await world.submit(CREATE);
    syncer.kick();
    await until(() => expect(verdicts).toHaveLength(1), 120_000);
    await until(() => expect(syncer.state).toBe('live'), 120_000);
    expect((await world.replica.state())?.cursor).toBeLessThan(100);
  },
);
