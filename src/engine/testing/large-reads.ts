/** A program that reads a collection of documents that does not fit into its heap, which is limited. */
import { createMemoryStore } from '../../store/memory.ts';
import { entryBytes, rowBytes } from '../../store/port.ts';
import type { Entry, Found, ReadTx, Row, Store } from '../../store/port.ts';
import { coll, create, doc, obj, type Query } from './engine-world.ts';
import { createTestEngine } from './fuzz-world.ts';
import { range } from './large-values.ts';
import { outcome, type Outcome } from './outcomes.ts';

export interface LargeRead {
  readonly name: string;
  readonly answer: Outcome;
  readonly alive: Outcome;
}

const DOCUMENTS = 600;
/** Length of the text that `MARK` stands for in stored rows. */
const TEXT_CHARS = 1_000_000;
const MARK = '"#"';

/** A store with many large documents that takes little memory: it creates their text each time a row is fetched. */
function inflatingStore(): Store {
  const inner = createMemoryStore();
  const inflated = (row: Row): Row =>
    typeof row.value === 'string' && row.value.includes(MARK)
      ? {
          ...row,
          value: row.value.replace(MARK, `"${Buffer.alloc(TEXT_CHARS, 'x').toString('latin1')}"`),
        }
      : row;
  const reading = (tx: ReadTx): ReadTx => ({
    async fetch(rows, ranges, bytesMax = Infinity): Promise<Found> {
      const found = await tx.fetch(rows, ranges);
      let bytes = 0;
      const firstRows: (Row | undefined)[] = [];
      for (const row of found.rows) {
        if (bytes >= bytesMax) break;
        const each = row && inflated(row);
        bytes += each ? rowBytes(each) : 0;
        firstRows.push(each);
      }
      bytes = 0;
      const cutRanges = new Set<number>();
      const firstEntries = found.ranges.map((entries, i) => {
        const first: Entry[] = [];
        for (const entry of entries) {
          if (bytes >= bytesMax) {
            cutRanges.add(i);
            break;
          }
          const each = entry.row ? { ...entry, row: inflated(entry.row) } : entry;
          bytes += entryBytes(each);
          first.push(each);
        }
        return first;
      });
      const cut = { rows: firstRows.length, ranges: cutRanges };
      return { rows: firstRows, ranges: firstEntries, truncation: cut };
    },
  });
  return {
    read: (body, options) => inner.read((tx) => body(reading(tx)), options),
    write: (body, options) => inner.write((tx) => body({ ...tx, ...reading(tx) }), options),
    close: () => inner.close(),
  };
}

const x = { var: 'x' };
const page = (size: number): Query => ({ paginate: { documents: coll('big') }, size });
const number: Query = { select: ['data', 'n'], from: { get: x } };
const numbers = (size: number): Query => ({
  map: { lambda: 'x', expr: number },
  collection: page(size),
});
const past: Query = { at: { now: null }, expr: { count: { documents: coll('big') } } };

/** The queries by name. */
const READS: Readonly<Record<string, Query>> = {
  'a page of refs': { count: { select: ['data'], from: page(DOCUMENTS) } },
  'all are counted': { count: { documents: coll('big') } },
  'a hundred of them': { count: { select: ['data'], from: numbers(100) } },
  'one after the other': {
    map: { lambda: 'x', expr: number },
    collection: same(100, doc('big', 1)),
  },
  'ended by the first': {
    map: { lambda: 'x', expr: { do: [number, { abort: 'enough' }] } },
    collection: page(DOCUMENTS),
  },
  'all of them': { count: { select: ['data'], from: numbers(DOCUMENTS) } },
  'all of them, in a write': {
    do: [create(coll('small'), {}), { count: { select: ['data'], from: numbers(DOCUMENTS) } }],
  },
  'all as they were': past,
  'all that happened': { count: { paginate: { documents: coll('big') }, events: true } },
};

function same<T>(count: number, item: T): readonly T[] {
  return range(count).map(() => item);
}

const engine = createTestEngine({ store: inflatingStore() });
await outcome(engine, { create_collection: obj({ name: 'big' }) });
await outcome(engine, { create_collection: obj({ name: 'small' }) });
for (const n of range(DOCUMENTS))
  await outcome(engine, create(doc('big', n + 1), { n, text: '#' }));
for (const [name, query] of Object.entries(READS)) {
  const answer = await outcome(engine, query);
  const alive = await outcome(engine, { add: [1, 1] });
  console.log(JSON.stringify({ name, answer, alive } satisfies LargeRead));
}
