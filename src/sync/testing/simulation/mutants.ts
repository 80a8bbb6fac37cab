/** Planted faults, one per simulation. The invariants must detect each of them, or they prove nothing. */
import type { SharedMemory } from '../../../store/memory.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import type { Chance, Clockwork } from './clockwork.ts';
import type { Process } from './processes.ts';

export const MUTANTS = [
  'numbers of writes are not checked',
  'forks are not noticed',
  'writes are answered before the commit',
  'the epoch is not checked',
  'rights are checked only at the subscription',
  'a pull omits a change',
  'pulls omit removed documents',
  'the cursor is stored before the changes',
  'the outbox is stored after the state',
  'writes without an answer count as judged',
  'refused writes are dropped',
  'a stale leader is not fenced off',
  'pending writes are not run again',
  'an incomplete pull is shown',
  'tabs are not serialized',
  'ids are made with another key',
  'devices never poll',
] as const;
export type Mutant = (typeof MUTANTS)[number];

/** The process whose store gets the fault. */
export interface FaultyProcess {
  readonly memory: SharedMemory;
  readonly process: Process;
  readonly clockwork: Clockwork;
  readonly chance: Chance;
}

/** A verdict that no hub has reached. */
export const inventedVerdict = ({ seq, hash }: PushItem): Verdict => ({
  seq,
  hash,
  state: 'confirmed',
  ts: 0,
  body: undefined,
});
