import { constants, getPriority, setPriority } from 'node:os';
import { platform } from 'node:process';

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;

/** Where cores are few, the thread that answers goes first. Elsewhere than on Linux it would be the priority of the whole process. */
export function lowerThreadPriority(): void {
  if (platform !== 'linux') return;
  try {
    setPriority(0, Math.min(PRIORITY_LOW, getPriority(0) + PRIORITY_BELOW_NORMAL));
  } catch {
    // Not allowed here: its queries take cores from others.
  }
}
