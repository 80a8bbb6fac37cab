/**
 * One attack, in a thread of its own, until it is told to stop; then it says what came of it. Attackers are other machines in life, so
 * on the cores that they share with the hub they get what nobody else wants.
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
// Elsewhere it is the priority of the whole process, the innocent client's too.
if (platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);

const run = ATTACKS[attack];
if (!run) throw new Error(`There is no attack "${attack}".`);
const stop = new AbortController();
// Each connection waits for it.
setMaxListeners(0, stop.signal);
parentPort?.once('message', () => stop.abort());
void run({ port, credentials, signal: stop.signal }).then((answers) =>
  parentPort?.postMessage(answers),
);
