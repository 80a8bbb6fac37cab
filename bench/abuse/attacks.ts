/** All attacks on a hub, by name. */
import { range } from '../../src/engine/testing/large-values.ts';
import { CONNECTIONS, keepSending, type Attack } from './connections.ts';
import { FLOODS } from './floods.ts';
import { QUERIES } from './queries.ts';

/** Attackers per query, each with one request at a time: more than a hub has threads. */
const QUERIES_AT_ONCE = 4;

const TURN_MS = 5;

/** Not an attack: measures how much another program that uses the CPU slows down the innocent client. */
const compute: Attack = async ({ signal }) => {
  let turns = 0;
  for (; !signal.aborted; turns += 1) {
    const until = performance.now() + TURN_MS;
    while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { turns };
};

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'nothing is sent, a core is busy': compute,
  ...Object.fromEntries(
    Object.entries(QUERIES).map(([name, query]): [string, Attack] => [
      name,
      (target) => {
        const senders = range(QUERIES_AT_ONCE).map(() => ({ secret: target.credentials.attacker }));
        return keepSending(target, senders, JSON.stringify(query()));
      },
    ]),
  ),
  ...CONNECTIONS,
  ...FLOODS,
};
