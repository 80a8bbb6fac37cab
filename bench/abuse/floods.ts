/**
 * Too many ordinary requests: for another database, with many credentials and from many addresses, each of which stays within its limits.
 */
import { keepSending, type Attack } from './connections.ts';
import { object } from './prepare.ts';
import { range } from '../../src/engine/testing/large-values.ts';

const ADDRESSES = 20;

const flood =
  (query: unknown): Attack =>
  (target) => {
    const senders = range(ADDRESSES).flatMap((i) =>
      target.credentials.tenant.map((secret) => ({ secret, localAddress: `127.0.1.${i + 1}` })),
    );
    return keepSending(target, senders, JSON.stringify(query));
  };

const adds = { map: { lambda: 'i', expr: { add: [{ var: 'i' }, 1] } }, collection: range(5000) };

export const FLOODS: Readonly<Record<string, Attack>> = {
  'queries of some ms of another database, by 20 keys from each of 20 addresses': flood({
    count: adds,
  }),
  'reads of another database, by 20 keys from each of 20 addresses': flood({
    paginate: { documents: { collection: 'notes' } },
  }),
  'writes of another database, by 20 keys from each of 20 addresses': flood({
    create: { collection: 'notes' },
    params: object({ data: object({ text: 'a heron' }) }),
  }),
};
