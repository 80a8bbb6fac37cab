/** All attacks on a hub, by name. */
import { range } from '../../src/engine/testing/large-values.ts';
import { CONNECTIONS, keepSending, type Attack } from './connections.ts';
import { FLOODS } from './floods.ts';
import { QUERIES } from './queries.ts';

/** Each by so many at a time: more than a hub has threads. */
const QUERIES_AT_ONCE = 4;

export const ATTACKS: Readonly<Record<string, Attack>> = {
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
