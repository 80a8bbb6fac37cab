/** What verify() says of tables that are intact, but contradict the manifest or their own index. */
import { expect, test } from 'vitest';
import { fixed, put, row, sequence } from '../store/testing/store-rows.ts';
import { partsOf, readPart } from './codec/log-parts.ts';
import { readRecord, recordBytes } from './codec/log-record.ts';
import { TableIndexWriter } from './codec/table-index.ts';
import { rowFamily } from './families.ts';
import { PACKED_LIMITS } from './limits.ts';
import type { Manifest, Run, Table } from './manifest.ts';
import { MediumData } from './testing/memory-medium.ts';
import { openPacked, SMALL } from './testing/packed-kit.ts';

const FAMILY = rowFamily('documents');
/** Several tables with an index of one part. */
const LIMITS = { ...SMALL, partBytes: PACKED_LIMITS.partBytes };

/** A store whose documents are in several tables of one run. */
async function flushed() {
  const data = new MediumData();
  const store = await openPacked(data, LIMITS);
  const rows = sequence(60).map((i) => row(fixed(i)));
  await put(store, 'documents', rows);
  await store.flush();
  const { bytes } = data.log.at(-1) ?? {};
  const flip = readRecord(readPart(bytes ?? new Uint8Array()).piece);
  if (flip.kind !== 'flip') throw new Error('The last record is not a flip.');
  const [run] = flip.manifest.families[FAMILY];
  const [table, next] = run?.tables ?? [];
  if (!run || !table || !next) throw new Error('There are fewer than two tables.');
  return { data, manifest: flip.manifest, run, table, next };
}

const problemsOf = async (data: MediumData): Promise<readonly string[]> =>
  (await openPacked(data, LIMITS)).verify();

/** Appends a flip to a manifest in which the run of documents is another. */
function replaceRun(data: MediumData, manifest: Manifest, run: Run): void {
  const families = { ...manifest.families, [FAMILY]: [run] };
  const record = recordBytes({ kind: 'flip', manifest: { ...manifest, families } });
  data.append(partsOf(record), data.lastNumber + 1);
}

test.each<[string, (table: Table) => Partial<Table>, string]>([
  ['more items', ({ items }) => ({ items: items + 1 }), 'has another number of items'],
  ['an earlier beginning', ({ low }) => ({ low: { ...low, key: '' } }), 'begins elsewhere'],
  ['an earlier end', ({ low }) => ({ high: low }), 'ends elsewhere'],
])('verify() names a table of which the manifest says %s', async (_, changed, problem) => {
  const { data, manifest, run, table } = await flushed();
  expect(await problemsOf(data)).toEqual([]);
  const tables = run.tables.map((each) => (each === table ? { ...each, ...changed(each) } : each));
  replaceRun(data, manifest, { ...run, tables });
  expect(await problemsOf(data)).toEqual([`table ${table.first} ${problem}`]);
});

test('verify() names a table that the manifest has before a table with earlier keys', async () => {
  const { data, manifest, run, table, next } = await flushed();
  replaceRun(data, manifest, { ...run, tables: [next, table, ...run.tables.slice(2)] });
  expect(await problemsOf(data)).toContain(`table ${table.first} is not sorted`);
});

/** The index of the first two blocks of a table. Their fences are '' and `second`. */
function indexOf(second: string, hashes: readonly number[]): Uint8Array {
  const index = new TableIndexWriter(FAMILY, 1);
  index.addBlock('', '', 0);
  index.addBlock(second, '', 1);
  return index.finish(2, hashes);
}

test.each<[string, (table: Table) => Uint8Array, string]>([
  ['a fence', ({ high }) => indexOf(high.key, []), 'has a wrong fence'],
  ['the filter', ({ high }) => indexOf(high.key, [1]), 'has a wrong Bloom filter'],
])('verify() names a table with an error in %s of its index', async (_, index, problem) => {
  const { data, table } = await flushed();
  data.putBlocks([{ id: table.first + table.index, bytes: index(table) }]);
  expect(await problemsOf(data)).toContain(`table ${table.first} ${problem}`);
});
