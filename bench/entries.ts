/** A page of many index entries: CPU time of the worker's part and of the page's part. Run by entries.mjs. */
import { decodeWire } from '../src/client/queries/decode.ts';
import { MediumData } from '../src/packed/testing/memory-medium.ts';
import { openPackedEngine } from './cold/packed-engine.ts';
import { makeDocs } from './page/documents.ts';

const DOCUMENTS = Number(process.argv[2]);
const ROUNDS = 7;

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const data = new MediumData();

async function openEngine() {
  const { store, ask } = await openPackedEngine(data);
  return { store, ask: (query: unknown) => ask(JSON.stringify(query)) };
}

const collection = { collection: 'docs' };
const field = (...path: readonly string[]) => ({ object: { field: path } });
const index = (object: object) => ({ create_index: { object: { source: collection, ...object } } });

const first = await openEngine();
await first.ask({ create_collection: { object: { name: 'docs' } } });
await first.ask(index({ name: 'by_city', terms: [field('data', 'city')] }));
await first.ask(
  index({ name: 'by_age', values: [field('data', 'city'), field('data', 'age'), field('ref')] }),
);
for (let from = 0; from < DOCUMENTS; from += 1000) {
  const docs = makeDocs({ count: 1000, from, cities: DOCUMENTS / 500 });
  await first.ask({
    do: [
      {
        foreach: {
          lambda: 'doc',
          expr: {
            create: { ref: collection, id: { select: 'id', from: { var: 'doc' } } },
            params: { object: { data: { var: 'doc' } } },
          },
        },
        collection: docs.map((doc) => ({ object: doc })),
      },
      true,
    ],
  });
}
await first.store.flush();

interface Page {
  readonly data: readonly (readonly [string, number, { readonly id: string }])[];
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** CPU time in ms, by round. */
const query: number[] = [];
const decode: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const { ask, store } = await openEngine();
  globalThis.gc?.();
  const asked = cpu();
  const { body } = await ask({ paginate: { match: { index: 'by_age' } }, size: DOCUMENTS });
  query.push(cpu() - asked);
  globalThis.gc?.();
  const received = cpu();
  const value = (await decodeWire(body)) as { readonly resource: Page };
  const ids = value.resource.data.map(([, , ref]) => ref.id);
  decode.push(cpu() - received);
  if (new Set(ids).size !== DOCUMENTS) throw new Error('Wrong answer.');
  await store.close();
}
for (const [name, ms] of Object.entries({ query, decode })) {
  const each = ms.map((one) => one.toFixed(0)).join(' ');
  console.log(`${name}: median ${median(ms).toFixed(1)} ms (${each})`);
}
