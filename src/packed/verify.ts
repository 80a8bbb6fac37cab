/** Walks all that a version has, and names what does not fit together. */
import { termsPrefixOf } from '../codec/key.ts';
import { EVERY_KEY } from '../codec/ranges.ts';
import { Refusal } from '../errors.ts';
import type { Entry, EntrySpace, Range, ReadTx } from '../store/port.ts';
import { rangeAfter, scan } from '../store/scan.ts';
import type { Block } from './codec/block.ts';
import { bloomHash } from './codec/bloom.ts';
import type { TableIndex } from './codec/table-index.ts';
import { ALL_FAMILIES, isEntryFamily, type Family } from './families.ts';
import { compareItemKeys, type ItemKey, type Table } from './manifest.ts';
import { BlockAccess } from './tree/block-access.ts';
import { BlockCache } from './tree/block-cache.ts';
import type { Tree } from './tree/tree.ts';

const CACHE_BYTES_MAX = 1024 * 1024;
const ENTRIES_AT_A_TIME = 1000;

/** A sentence for each thing that is not well; none: all is. */
export async function verifyTree(tree: Tree): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const family of ALL_FAMILIES)
    for (const { tables } of tree.version.manifest.families[family]) {
      problems.push(...disorderOf(tables));
      for (const table of tables) problems.push(...(await verifyTable(tree, family, table)));
    }
  return problems;
}

/** Whether the entries that are found are those of the rows. Sums, for all of them together may be too many. */
export async function verifyEntries(tx: ReadTx, space: EntrySpace): Promise<readonly string[]> {
  let ofRows = 0;
  for await (const { row } of all(tx, scan(space, EVERY_KEY)))
    for (const entry of row?.entries ?? []) ofRows = (ofRows + pairHash(entry, row?.key)) >>> 0;
  let ofEntries = 0;
  const range = scan(space, { by: 'entry', ...EVERY_KEY }, { rows: false });
  for await (const { entry, key } of all(tx, range))
    ofEntries = (ofEntries + pairHash(entry, key)) >>> 0;
  return ofRows === ofEntries ? [] : [`the index entries of ${space} are not those of its rows`];
}

const pairHash = (entry: string, key = ''): number => bloomHash(`${entry}\u0100${key}`);

async function* all(tx: ReadTx, range: Range): AsyncGenerator<Entry> {
  for (let rest: Range = { ...range, limit: ENTRIES_AT_A_TIME }; ;) {
    const [found = []] = (await tx.fetch([], [rest])).ranges;
    const last = found.at(-1);
    // Entries of the last key may go on behind the limit: they come with the next.
    const isWhole = !last || found.length < rest.limit;
    const sure = isWhole ? found : found.filter(({ entry }) => entry !== last.entry);
    yield* sure;
    if (isWhole) return;
    const before = sure.at(-1);
    if (before) rest = { ...rangeAfter(rest, before), limit: ENTRIES_AT_A_TIME };
    else rest = { ...rest, limit: rest.limit * 2 };
  }
}

const disorderOf = (tables: readonly Table[]): readonly string[] =>
  tables.flatMap(({ first, low }, at) => {
    const before = tables[at - 1];
    return before && compareItemKeys(before.high, low) >= 0
      ? `table ${first} begins before table ${before.first} ends`
      : [];
  });

async function verifyTable(tree: Tree, family: Family, table: Table): Promise<readonly string[]> {
  const access = new BlockAccess(new BlockCache(CACHE_BYTES_MAX));
  try {
    access.index(table);
    await tree.load(access);
    const checked = new TableCheck(table, isEntryFamily(family));
    const index = access.index(table);
    if (index) await eachBlock(tree, access, table, index, checked);
    return checked.end();
  } catch (reason) {
    if (reason instanceof Refusal) return [reason.message];
    throw reason;
  }
}

async function eachBlock(
  tree: Tree,
  access: BlockAccess,
  table: Table,
  index: TableIndex,
  checked: TableCheck,
): Promise<void> {
  for (let at = 0; at < index.blocks; at += 1) {
    access.block(table, index, at);
    if (access.isMissing) await tree.load(access);
    const block = access.block(table, index, at);
    if (block) checked.take(index, at, block);
  }
}

class TableCheck {
  private readonly table: Table;
  private readonly isPair: boolean;
  private readonly problems = new Set<string>();
  private last: ItemKey | undefined = undefined;
  private items = 0;

  constructor(table: Table, isPair: boolean) {
    this.table = table;
    this.isPair = isPair;
  }

  take(index: TableIndex, at: number, block: Block): void {
    for (let interval = 0; interval < block.intervals; interval += 1) {
      const { keys, owners } = block.read(interval);
      for (const [i, key] of keys.entries()) this.item(index, at, { key, owner: owners[i] ?? '' });
    }
  }

  end(): readonly string[] {
    const { first, high, items } = this.table;
    if (this.last && compareItemKeys(this.last, high) !== 0) this.note('ends elsewhere');
    if (this.items !== items) this.note('has another number of items');
    return [...this.problems].map((what) => `table ${first} ${what}`);
  }

  private item(index: TableIndex, at: number, item: ItemKey): void {
    this.items += 1;
    if (!this.last && compareItemKeys(item, this.table.low) !== 0) this.note('begins elsewhere');
    if (this.last && compareItemKeys(this.last, item) >= 0) this.note('is not sorted');
    if (index.blockOf(item.key, item.owner) !== at) this.note('has a wrong fence');
    const filtered = this.isPair ? termsPrefixOf(item.key) : item.key;
    if (filtered !== undefined && !index.mayContain(filtered))
      this.note('has a wrong Bloom filter');
    this.last = item;
  }

  private note(what: string): void {
    this.problems.add(what);
  }
}
