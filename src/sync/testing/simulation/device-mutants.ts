/** Planted faults of a device: in its store, its replica and its transport. */
import { createMemoryStore, type SharedMemory } from '../../../store/memory.ts';
import type { Store, WriteSet } from '../../../store/port.ts';
import type { Replica } from '../../device/replica/replica.ts';
import { pulledUntil, type ReplicaState } from '../../device/state/replica-state.ts';
import { outboxRange } from '../../device/state/outbox-rows.ts';
import { outboxRow, readOutboxRow } from '../../device/state/outbox-row.ts';
import type { Transport } from '../../device/syncer/transport.ts';
import { syncKey } from '../../../codec/key.ts';
import { inventedVerdict, type FaultyProcess, type Mutant } from './mutants.ts';

export function mutantDeviceStore(
  mutant: Mutant | undefined,
  store: Store,
  place: FaultyProcess,
): Store {
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

/** Reads and writes in two transactions, so that commits in between are overwritten. */
const unserialized = (store: Store, { memory, clockwork }: FaultyProcess): Store => ({
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
  { memory }: Pick<FaultyProcess, 'memory'>,
): Replica {
  const own: Replica = Object.create(replica) as Replica;
  switch (mutant) {
    case 'the cursor is stored before the changes':
      own.apply = async (fence, pulled, asked) => {
        if (pulled.more) return replica.apply(fence, pulled, asked);
        await replica.apply(fence, { ...pulled, puts: [], leaves: [] }, asked);
        return replica.apply(fence, { ...pulled, after: pulled.token });
      };
      return own;
    case 'an incomplete pull is shown':
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
    case 'ids are made with another key':
      own.adopt = (hub, welcome, device) =>
        replica.adopt(hub, { ...welcome, idKey: FORGED }, device);
      own.applyWelcome = (fence, welcome, arrived) =>
        replica.applyWelcome(fence, { ...welcome, idKey: FORGED }, arrived);
      return own;
    default:
      return replica;
  }
}

const FORGED = 'f0'.repeat(32);

/** Ignores fencing: reports its own token as the current one, but presents the one that is stored. */
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
    const state = await replica.state();
    const since = state && pulledUntil(state);
    const { fence = 0, token } = state ?? {};
    return replica.apply(fence, { ...pulled, after: token }, asked && { ...asked, since });
  };
  own.finishComparison = async (_, since) => replica.finishComparison(await present(), since);
  own.settle = async (_, verdicts) => replica.settle(await present(), verdicts);
  own.applyWelcome = async (_, welcome, arrived) =>
    replica.applyWelcome(await present(), welcome, arrived);
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
    return [{ space: 'sync', row: outboxRow({ ...record, ...then }) } as const];
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
  if (mutant !== 'writes without an answer count as judged') return transport;
  return {
    ...transport,
    push: async (push) => {
      try {
        return await transport.push(push);
      } catch (reason) {
        const { fence = 0 } = (await replica.state()) ?? {};
        await replica.settle(fence, push.items.map(inventedVerdict));
        throw reason;
      }
    },
  };
}
