/** Planted faults, one per simulation. The invariants must detect each of them, or they prove nothing. */
import type { SharedMemory } from '../../../store/memory.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import type { Chance, Clockwork } from './clockwork.ts';
import type { Process } from './processes.ts';

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
  'ids are made with another key',
  'nobody asks without a hint',
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
