/** Planted faults of the hub: in its answers and its store. */
import type { Store } from '../../../store/port.ts';
import { type DeviceRecord, deviceRow } from '../../hub/rows/device-rows.ts';
import { recordIn } from '../../hub/rows/records.ts';
import type { SyncHub } from '../../hub/sync-hub.ts';
import { isSyncRefusal } from '../../protocol/refusals.ts';
import { syncKey } from '../../../codec/key.ts';
import type { Hello, Pull, Pulled, Push } from '../../protocol/messages.ts';
import type { EngineWorld } from '../../../engine/testing/engine-world.ts';
import { inventedVerdict, type FaultyProcess, type Mutant } from './mutants.ts';

/** What a mutant needs from the hub in which it runs. */
export interface MutantHost {
  readonly epoch: string;
  readonly clock: () => number;
  /** An engine over the stored data. */
  admin(): EngineWorld;
}

export function mutantHub(mutant: Mutant | undefined, sync: SyncHub, hub: MutantHost): SyncHub {
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
        return { lastSeq: items.at(-1)?.seq ?? 0, verdicts: items.map(inventedVerdict) };
      };
      return own;
    case 'the epoch is not checked':
      return deafToEpochs(sync, hub);
    case 'rights are checked only at the subscription':
      own.pull = (secret, message) =>
        changed(sync.pull(secret, message), (pulled) => ({ ...pulled, check: false }));
      return own;
    case 'a pull omits a change':
      own.pull = (secret, message) =>
        changed(sync.pull(secret, message), (pulled) => ({
          ...pulled,
          puts: (message as Pull).cursor === undefined ? pulled.puts : pulled.puts.slice(1),
        }));
      return own;
    case 'pulls omit removed documents':
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

async function setLastSeq(hub: MutantHost, { device, items }: Push): Promise<void> {
  const [first] = items;
  if (!first) return;
  await hub.admin().engine.transactions.write(({ writer, head }) => {
    const address = { space: 'sync', key: syncKey('device', 0, device) } as const;
    const record = recordIn(writer, address) as DeviceRecord | undefined;
    const isOther = record !== undefined && record.lastSeq !== first.seq - 1;
    if (isOther) writer.put('sync', deviceRow(0, device, { ...record, lastSeq: first.seq - 1 }));
    return { value: undefined, ts: Math.max(hub.clock(), head) + 1 };
  });
}

function deafToEpochs(sync: SyncHub, hub: MutantHost): SyncHub {
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

/** Acknowledges a commit that is lost in a crash soon after. */
export function mutantHubStore(
  mutant: Mutant | undefined,
  store: Store,
  place: FaultyProcess,
): Store {
  if (mutant !== 'writes are answered before the commit') return store;
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
