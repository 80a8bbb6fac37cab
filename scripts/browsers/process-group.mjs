// A browser is many processes. They are ended as the group that the first of them leads, so nobody else's is met.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';

/** To all of a group; false when none is left. @param {number} leader @param {NodeJS.Signals | 0} signal `0` only asks */
export function signalGroup(leader, signal) {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** Resolves to whether none of a group lives; looks for `ms` at most. @param {number} leader @param {number} ms */
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

/** A dead process that nobody has waited for still has its number: it counts as ended. @param {string} pid @param {number} leader */
function isLivingMember(pid, leader) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Its name, in parentheses, may hold anything.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(group) === leader && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}
