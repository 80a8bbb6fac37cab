import { constants, getPriority, setPriority } from 'node:os';
import { platform } from 'node:process';

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;

/**
 * Lowers the priority of this thread, so that the main thread goes first when there are few cores. Does nothing except on Linux,
 * because elsewhere it would change the priority of the whole process.
 */
export function lowerThreadPriority(): void {
  if (platform !== 'linux') return;
  try {
    setPriority(0, Math.min(PRIORITY_LOW, getPriority(0) + PRIORITY_BELOW_NORMAL));
  } catch {
    // Not permitted: long queries then compete with the main thread for cores.
  }
}
