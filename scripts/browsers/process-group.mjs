// A browser has many processes. They are signalled as the group that the first of them leads, so no other process is affected.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';

/**
 * Sends a signal to all processes of a group; returns false if none is left.
 * @param {number} leader @param {NodeJS.Signals | 0} signal `0` only tests
 */
export function signalGroup(leader, signal) {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** Waits up to `ms` for all processes of a group to end, and resolves to whether they have. @param {number} leader @param {number} ms */
export async function groupEnds(leader, ms) {
  const until = performance.now() + ms;
  while (groupLives(leader)) {
    if (performance.now() > until) return false;
    await after(LOOK_AGAIN_MS);
  }
  return true;
}

const LOOK_AGAIN_MS = 10;

/** @param {number} leader */
const groupLives = (leader) =>
  process.platform === 'linux'
    ? readdirSync('/proc').some((name) => /^\d+$/.test(name) && isLivingMember(name, leader))
    : signalGroup(leader, 0);

/** Zombies (ended, but not yet reaped by their parent) are not alive. @param {string} pid @param {number} leader */
function isLivingMember(pid, leader) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in parentheses and may itself contain parentheses and spaces.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(group) === leader && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}
