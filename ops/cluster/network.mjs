// Machines of the simulated cluster: each is a network namespace with its own address. All are connected to one bridge.
import { execFileSync } from 'node:child_process';

const BRIDGE = 'burrow-lan';
export const NETWORK = '10.77.0';

/** @param {...string} args */
const ip = (...args) =>
  execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** @param {...string} args */
function tryIp(...args) {
  try {
    ip(...args);
  } catch {
    // The interface or namespace no longer exists.
  }
}

export function makeNetwork() {
  ip('link', 'add', BRIDGE, 'type', 'bridge');
  ip('addr', 'add', `${NETWORK}.254/24`, 'dev', BRIDGE);
  ip('link', 'set', BRIDGE, 'up');
}

export const removeNetwork = () => tryIp('link', 'del', BRIDGE);

export function canMakeNetwork() {
  const probe = { name: 'probe', address: `${NETWORK}.253` };
  try {
    ip('netns', 'add', namespaceOf(probe));
    return true;
  } catch {
    return false;
  } finally {
    removePlace(probe);
  }
}

/** @typedef {{ name: string; address: string }} Place */

const namespaceOf = (/** @type {Place} */ { name }) => `burrow-${name}`;
const linkOf = (/** @type {Place} */ { name }) => `bw-${name}`;

/** @param {Place} place */
export function makePlace(place) {
  const [namespace, link] = [namespaceOf(place), linkOf(place)];
  ip('netns', 'add', namespace);
  ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  ip('link', 'set', link, 'master', BRIDGE, 'up');
  ip('-n', namespace, 'addr', 'add', `${place.address}/24`, 'dev', 'eth0');
  for (const device of ['lo', 'eth0']) ip('-n', namespace, 'link', 'set', device, 'up');
}

export const removePlace = (/** @type {Place} */ place) => {
  tryIp('link', 'del', linkOf(place));
  tryIp('netns', 'del', namespaceOf(place));
};

/** Disconnects a machine from the network. @param {Place} place */
export const cut = (place) => ip('link', 'set', linkOf(place), 'down');
/** @param {Place} place */
export const join = (place) => ip('link', 'set', linkOf(place), 'up');

/** The prefix that runs a command inside the machine's network namespace. @param {Place} place */
export const there = (place) => ['ip', 'netns', 'exec', namespaceOf(place)];

/** Ids of the processes that run in the machine's network namespace. @param {Place} place @returns {number[]} */
export function pidsOf(place) {
  try {
    return ip('netns', 'pids', namespaceOf(place)).split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
