/** A replica whose process can die during each operation, and which works in smaller steps than usual. */
import type { Replica } from '../../device/replica/replica.ts';
import type { Process } from './processes.ts';

/** Limits that are made small so that more steps are needed. */
export interface Buggify {
  pullBytes: number | undefined;
  pushItems: number | undefined;
}

interface Owner {
  readonly buggify: Buggify;
  noteCompared(): void;
}

export function instrumented(replica: Replica, process: Process, device: Owner): Replica {
  const own: Replica = Object.create(replica) as Replica;
  own.submit = (request) => process.during('submit', () => replica.submit(request));
  own.settle = (fence, verdicts) => process.during('settle', () => replica.settle(fence, verdicts));
  own.moveToNewDevice = (fence) => process.during('move', () => replica.moveToNewDevice(fence));
  own.resubmitAll = (fence, epoch) =>
    process.during('resubmit', () => replica.resubmitAll(fence, epoch));
  own.recover = (id, items) => process.during('recover', () => replica.recover(id, items));
  own.outgoing = (limits) =>
    replica.outgoing({ ...limits, count: device.buggify.pushItems ?? limits.count });
  own.apply = (fence, pulled, asked) =>
    process.during(pulled.more ? 'stage' : 'apply', () => replica.apply(fence, pulled, asked));
  own.finishComparison = async (fence, since) => {
    const state = await process.during('compared', () => replica.finishComparison(fence, since));
    device.noteCompared();
    return state;
  };
  return own;
}

/** All places where a tab or a hub may die. */
export const TAB_PLACES: readonly string[] = [
  ...['submit', 'settle', 'apply', 'stage', 'compared', 'move', 'resubmit', 'recover'].flatMap(
    (what) => [`${what} before commit`, `${what} committed`],
  ),
  ...['hello', 'push', 'pull', 'check'].map((what) => `${what} answer received`),
];

export const HUB_PLACES: readonly string[] = ['hello', 'push', 'pull', 'check'].flatMap((what) => [
  `hub ${what} received`,
  ...(what === 'check' ? [] : [`hub ${what} before commit`, `hub ${what} committed`]),
  `hub ${what} answered`,
]);
