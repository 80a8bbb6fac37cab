/** Faults planted on purpose, one at a time: the invariants must find each of them, or they prove nothing. */
import { createMemoryStore, type SharedMemory } from '../../../store/memory.ts';
import type { Store, WriteSet } from '../../../store/port.ts';
import type { Replica, ReplicaState } from '../../device/state/api.ts';
import { outboxRange, outboxRow, readOutboxRow } from '../../device/state/rows.ts';
import type { Transport } from '../../device/syncer/transport.ts';
import { deviceRow, recordIn, type DeviceRecord } from '../../hub/rows/device-rows.ts';
import { isSyncRefusal, type SyncHub } from '../../hub/sync-hub.ts';
import { syncKey } from '../../../codec/key.ts';
import type { Hello, Pull, Pulled, Push, PushItem, Verdict } from '../../protocol/protocol.ts';
import type { Chance, Clockwork } from './clockwork.ts';
import type { Process } from './processes.ts';
import type { SimHub } from './sim-hub.ts';

export const MUTANTS = [
  'numbers of writes are not checked',
  'forks are not noticed',
  'answered before the commit',
  'the epoch is not looked at',
  'rights are judged at the subscription only',
  'a change is left out',
  'what left is not told',
  'the cursor is stored before the changes',
  'the outbox is stored after the state',
  'the outbox is cut when an answer is missing',
  'refused writes are dropped',
  'a stale leader is not fenced off',
  'pending writes are not run again',
  'parts of a pull are shown',
  'tabs are not serialized',
] as const;
export type Mutant = (typeof MUTANTS)[number];

interface Place {
  readonly memory: SharedMemory;
  readonly process: Process;
  readonly clockwork: Clockwork;
  readonly chance: Chance;
}

// --- the hub --------------------------------------------------------------------------------------

export function mutantHub(mutant: Mutant | undefined, sync: SyncHub, hub: SimHub): SyncHub {
  const own: SyncHub = Object.create(sync) as SyncHub;
  switch (mutant) {
    case 'numbers of writes are not checked':
      own.push = async (secret, message) => {
        await setLastSeq(hub, message as Push);
        return sync.push(secret, message);
      };
      return own;
    case 'forks are not noticed':
      own.push = async (secret, message) => {
        const answer = await sync.push(secret, message);
        if (!isSyncRefusal(answer) || answer.code !== 'client_forked') return answer;
        const { items } = message as Push;
        return { lastSeq: items.at(-1)?.seq ?? 0, verdicts: items.map(pretended) };
      };
      return own;
    case 'the epoch is not looked at':
      return deafToEpochs(sync, hub);
    case 'rights are judged at the subscription only':
      own.pull = (secret, message) =>
        changed(sync.pull(secret, message), (pulled) => ({ ...pulled, check: false }));
      return own;
    case 'a change is left out':
      own.pull = (secret, message) =>
        changed(sync.pull(secret, message), (pulled) => ({
          ...pulled,
          puts: (message as Pull).cursor === undefined ? pulled.puts : pulled.puts.slice(1),
        }));
      return own;
    case 'what left is not told':
      own.pull = (secret, message) =>
        changed(sync.pull(secret, message), (pulled) => ({ ...pulled, leaves: [] }));
      return own;
    default:
      return sync;
  }
}

async function changed<T extends object>(
  answer: Promise<T | Pulled>,
  change: (pulled: Pulled) => Pulled,
): Promise<T | Pulled> {
  const value = await answer;
  return isSyncRefusal(value) ? value : change(value as Pulled);
}

const pretended = ({ seq, hash }: PushItem): Verdict => ({
  seq,
  hash,
  state: 'confirmed',
  ts: 0,
  body: undefined,
});

async function setLastSeq(hub: SimHub, { device, items }: Push): Promise<void> {
  const [first] = items;
  if (!first) return;
  await hub.admin().engine.transactions.write(({ writer, head }) => {
    const address = { space: 'sync', key: syncKey('device', 0, device) } as const;
    const record = recordIn(writer, address) as DeviceRecord | undefined;
    const isOther = record !== undefined && record.lastSeq !== first.seq - 1;
    if (isOther) writer.put('sync', deviceRow(0, device, { ...record, lastSeq: first.seq - 1 }));
    return { value: undefined, ts: Math.max(hub.clock(), head) + 1, keep: isOther };
  });
}

function deafToEpochs(sync: SyncHub, hub: SimHub): SyncHub {
  const own: SyncHub = Object.create(sync) as SyncHub;
  const now = (message: unknown): unknown => ({ ...(message as object), epoch: hub.epoch });
  own.hello = async (secret, message) => {
    const welcome = await sync.hello(secret, now(message));
    const { epoch, lastSeq } = message as Hello;
    const isKnown = epoch !== undefined && !isSyncRefusal(welcome);
    return isKnown ? { ...welcome, epoch, lastSeq } : welcome;
  };
  own.push = (secret, message) => sync.push(secret, now(message));
  own.check = (secret, message) => sync.check(secret, now(message));
  own.pull = (secret, message) =>
    changed(sync.pull(secret, now(message)), (pulled) => ({
      ...pulled,
      epoch: (message as Pull).epoch,
    }));
  return own;
}

/** Says that a commit is there, which a crash soon after takes back. */
export function mutantHubStore(mutant: Mutant | undefined, store: Store, place: Place): Store {
  if (mutant !== 'answered before the commit') return store;
  const { memory, process, clockwork, chance } = place;
  return {
    ...store,
    async write(body, options) {
      const before = memory.version;
      const value = await store.write(body, options);
      const { version } = memory;
      if (chance.is(0.05))
        clockwork.after(chance.next() * 200, () => {
          if (memory.version !== version) return;
          memory.version = before;
          process.kill('with its last commit');
        });
      return value;
    },
  };
}

// --- the device -----------------------------------------------------------------------------------

export function mutantDeviceStore(mutant: Mutant | undefined, store: Store, place: Place): Store {
  if (mutant === 'tabs are not serialized') return unserialized(store, place);
  if (mutant !== 'the outbox is stored after the state') return store;
  const isOutbox = (key: string): boolean => key.startsWith(syncKey('outbox'));
  return {
    ...store,
    async write(body, options) {
      const late: WriteSet['puts'][number][] = [];
      const value = await store.write((tx) => {
        const apply = (writes: WriteSet): void => {
          late.push(...writes.puts.filter(({ row }) => isOutbox(row.key)));
          tx.apply({ ...writes, puts: writes.puts.filter(({ row }) => !isOutbox(row.key)) });
        };
        return body({ fetch: (...asked) => tx.fetch(...asked), apply });
      }, options);
      if (late.length > 0)
        await store.write(async (tx) => tx.apply({ puts: late, deletes: [] }), options);
      return value;
    },
  };
}

/** Reads at one time, writes at a later one, whatever came between. */
const unserialized = (store: Store, { memory, clockwork }: Place): Store => ({
  ...store,
  async write(body, options) {
    const found: WriteSet[] = [];
    const value = await store.read(
      (tx) =>
        body({
          fetch: (...asked) => tx.fetch(...asked),
          apply: (writes) => void found.push(writes),
        }),
      options,
    );
    await clockwork.sleep(2);
    await createMemoryStore(memory).write(async (tx) => found.forEach((each) => tx.apply(each)), {
      durability: 'relaxed',
    });
    return value;
  },
});

export function mutantReplica(
  mutant: Mutant | undefined,
  replica: Replica,
  { memory }: Pick<Place, 'memory'>,
): Replica {
  const own: Replica = Object.create(replica) as Replica;
  switch (mutant) {
    case 'the cursor is stored before the changes':
      own.apply = async (fence, pulled, asked) => {
        if (pulled.more) return replica.apply(fence, pulled, asked);
        await replica.apply(fence, { ...pulled, puts: [], leaves: [] }, asked);
        return replica.apply(fence, { ...pulled, after: pulled.token }, asked);
      };
      return own;
    case 'parts of a pull are shown':
      own.apply = (fence, pulled, asked) => replica.apply(fence, { ...pulled, more: false }, asked);
      return own;
    case 'refused writes are dropped':
      own.settle = async (fence, verdicts) => {
        const settled = await replica.settle(fence, verdicts);
        for (const { id, state } of settled) if (state === 'refused') await replica.discard(id);
        return settled.filter(({ state }) => state !== 'refused');
      };
      return own;
    case 'a stale leader is not fenced off':
      return fearless(replica);
    case 'pending writes are not run again':
      own.apply = async (fence, pulled, asked) => {
        const before = await effectsIn(replica, memory);
        const applied = await replica.apply(fence, pulled, asked);
        await putBack(applied.state, before, memory);
        return applied;
      };
      return own;
    default:
      return replica;
  }
}

/** Shows whatever number is asked for. */
function fearless(replica: Replica): Replica {
  const own: Replica = Object.create(replica) as Replica;
  let mine = 0;
  const present = async (): Promise<number> => (await replica.state())?.fence ?? 0;
  own.takeFence = async () => (mine = await replica.takeFence());
  own.state = async () => {
    const state = await replica.state();
    return state && mine > 0 ? { ...state, fence: mine } : state;
  };
  own.apply = async (_, pulled, asked) => {
    const { fence = 0, token } = (await replica.state()) ?? {};
    return replica.apply(fence, { ...pulled, after: token }, asked);
  };
  own.checked = async (_, since) => replica.checked(await present(), since);
  own.settle = async (_, verdicts) => replica.settle(await present(), verdicts);
  own.greet = async (_, welcome, arrived) => replica.greet(await present(), welcome, arrived);
  own.park = async (_, isParked) => replica.park(await present(), isParked);
  return own;
}

const outboxOf = (era: number, memory: SharedMemory) =>
  memory.version.sync.keys.within(outboxRange(era)).flatMap(({ row }) => row ?? []);

async function effectsIn(replica: Replica, memory: SharedMemory) {
  const state = await replica.state();
  const records = outboxOf(state?.era ?? 0, memory).map(readOutboxRow);
  return new Map(records.map(({ id, effects, reads }) => [id, { effects, reads }]));
}

async function putBack(
  { era, shownSeq }: ReplicaState,
  before: Awaited<ReturnType<typeof effectsIn>>,
  memory: SharedMemory,
): Promise<void> {
  const puts = outboxOf(era, memory).flatMap((row) => {
    const record = readOutboxRow(row);
    const then = before.get(record.id);
    if (!then || record.item.seq <= shownSeq) return [];
    return [{ space: 'sync', row: outboxRow(era, { ...record, ...then }) } as const];
  });
  await createMemoryStore(memory).write(async (tx) => tx.apply({ puts, deletes: [] }), {
    durability: 'relaxed',
  });
}

export function mutantTransport(
  mutant: Mutant | undefined,
  transport: Transport,
  replica: Replica,
): Transport {
  if (mutant !== 'the outbox is cut when an answer is missing') return transport;
  return {
    ...transport,
    push: async (push) => {
      try {
        return await transport.push(push);
      } catch (reason) {
        const { fence = 0 } = (await replica.state()) ?? {};
        await replica.settle(fence, push.items.map(pretended));
        throw reason;
      }
    },
  };
}
