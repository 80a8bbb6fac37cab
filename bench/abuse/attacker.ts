/**
 * Runs one attack in a thread until it is told to stop, and reports the responses that it got. Real attackers run on other machines, so the
 * thread has the lowest priority on the cores that it shares with the hub.
 */
import { setMaxListeners } from 'node:events';
import { constants, setPriority } from 'node:os';
import { platform } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { ATTACKS } from './attacks.ts';
import type { Credentials } from './prepare.ts';

export interface AttackerData {
  readonly attack: string;
  readonly port: number;
  readonly credentials: Credentials;
}

const { attack, port, credentials } = workerData as AttackerData;
// Only on Linux does this set the priority of the thread; elsewhere it would slow down the whole process, with the innocent client.
if (platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);

const run = ATTACKS[attack];
if (!run) throw new Error(`There is no attack "${attack}".`);
const stop = new AbortController();
// Each connection adds a listener.
setMaxListeners(0, stop.signal);
parentPort?.once('message', () => stop.abort());
void run({ port, credentials, signal: stop.signal }).then((answers) =>
  parentPort?.postMessage(answers),
);
