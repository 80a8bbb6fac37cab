/** Runs one attack in a process of its own until it is told to stop, and reports the responses that it got. */
import { setMaxListeners } from 'node:events';
import { ATTACKS } from './attacks.ts';
import type { Credentials } from './prepare.ts';

export interface AttackerData {
  readonly attack: string;
  readonly port: number;
  readonly credentials: Credentials;
}

process.once('message', (data) => {
  const { attack, port, credentials } = data as AttackerData;
  const run = ATTACKS[attack];
  if (!run) throw new Error(`There is no attack "${attack}".`);
  const stop = new AbortController();
  // Each connection adds a listener.
  setMaxListeners(0, stop.signal);
  process.once('message', () => stop.abort());
  void run({ port, credentials, signal: stop.signal }).then((answers) => process.send?.(answers));
});
