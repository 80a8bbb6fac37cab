/** Ordinary requests, too many of them: of another database, by credentials and from addresses of which each keeps to its limits. */
import { keepSending, type Attack } from './connections.ts';
import { object } from './prepare.ts';
import { range } from '../../src/engine/testing/large-values.ts';

const ADDRESSES = 20;

const flood =
  (query: unknown): Attack =>
  async (target) => {
    const body = JSON.stringify(query);
    const { tenant } = target.credentials;
    const counts = await Promise.all(
      range(ADDRESSES).flatMap((i) =>
        tenant.map((key) => keepSending(target, 1, key, body, `127.0.1.${i + 1}`)),
      ),
    );
    const statuses: Record<string, number> = {};
    for (const each of counts)
      for (const [status, count] of Object.entries(each))
        statuses[status] = (statuses[status] ?? 0) + count;
    return statuses;
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
