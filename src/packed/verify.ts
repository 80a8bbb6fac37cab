/** Checks all data of a version and lists what is damaged or inconsistent. */
import { termsPrefixOf } from '../codec/key.ts';
import { EVERY_KEY } from '../codec/ranges.ts';
import { Refusal } from '../errors.ts';
import type { Entry, EntrySpace, Range, ReadTx } from '../store/port.ts';
import { rangeAfter, scan } from '../store/scan.ts';
import type { Block } from './codec/block.ts';
import { bloomHash } from './codec/bloom.ts';
import type { TableIndex } from './codec/table-index.ts';
import { damaged } from './damage.ts';
import { ALL_FAMILIES, isEntryFamily, type Family } from './families.ts';
import { compareItemKeys, type ItemKey, type Table } from './manifest.ts';
import { BlockAccess } from './tree/block-access.ts';
import { BlockCache } from './tree/block-cache.ts';
import type { Tree } from './tree/tree.ts';
import { EMPTY_VERSION, versionAfter } from './tree/version.ts';

const CACHE_BYTES_MAX = 1024 * 1024;
/** A row may have several MB. */
const BYTES_AT_A_TIME = 1024 * 1024;

/** Returns a sentence for each problem, or an empty list. Tables that are merged during the check are checked too. */
export async function verifyTree(tree: Tree): Promise<readonly string[]> {
  const walked = new Set<number>();
  const problems = [...((await problemsIn(() => verifyLog(tree))) ?? [])];
  for (let next = nextTable(tree, walked); next; next = nextTable(tree, walked)) {
    const place = next;
    const found = await problemsIn(() => tree.unlessGone(() => verifyTable(tree, place)));
    if (!found) continue;
    problems.push(...found);
    walked.add(place.table.first);
  }
  return problems;
}

interface Place {
  readonly family: Family;
  readonly table: Table;
  readonly before: Table | undefined;
}

/** The next table of the newest known version that has not been checked. */
function nextTable({ version }: Tree, walked: ReadonlySet<number>): Place | undefined {
  for (const family of ALL_FAMILIES)
    for (const { tables } of version.manifest.families[family])
      for (const [at, table] of tables.entries())
        if (!walked.has(table.first)) return { family, table, before: tables[at - 1] };
  return undefined;
}

/** Adds damage that prevents a check as a problem. */
async function problemsIn<T>(verify: () => Promise<T>): Promise<T | readonly string[]> {
  try {
    return await verify();
  } catch (reason) {
    if (!(reason instanceof Refusal && reason.code === 'local_data_loss')) throw reason;
    return [reason.message];
  }
}

/** Checks that the next opening can read the log, which this tab has in memory. @throws Refusal */
async function verifyLog(tree: Tree): Promise<undefined> {
  await tree.refresh();
  const known = tree.version.number;
  const { number } = versionAfter(EMPTY_VERSION, (await tree.medium.read(0, [])).log);
  if (number < known) throw damaged(`log record ${number + 1}`, 'it is missing');
}

/**
 * Checks that the index entries found by scans are those of the rows. Compares sums of hashes, because all entries
 * together may not fit in memory.
 */
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
  let rest = range;
  for (let bytesMax = BYTES_AT_A_TIME; ;) {
    const { ranges, truncation } = await tx.fetch([], [rest], bytesMax);
    const [found = []] = ranges;
    // More entries with the last key may follow beyond the limit. So the last key is left to the next fetch.
    const last = truncation && found.at(-1);
    const sure = last ? found.filter(({ entry }) => entry !== last.entry) : found;
    yield* sure;
    if (!last) return;
    const before = sure.at(-1);
    if (before) rest = rangeAfter(rest, before);
    bytesMax = before ? BYTES_AT_A_TIME : bytesMax * 2;
  }
}

async function verifyTable(tree: Tree, place: Place): Promise<readonly string[]> {
  const { table } = place;
  const access = new BlockAccess(new BlockCache(CACHE_BYTES_MAX));
  access.index(table);
  await tree.load(access);
  const index = access.index(table);
  const checked = new TableCheck(place);
  if (index)
    for (let at = 0; at < index.blocks; at += 1) {
      access.block(table, index, at);
      if (access.isMissing) await tree.load(access);
      const block = access.block(table, index, at);
      if (block) checked.take(index, at, block);
    }
  return checked.end();
}

class TableCheck {
  private readonly table: Table;
  private readonly isPair: boolean;
  private readonly problems = new Set<string>();
  /** The previous item, which may belong to the previous table. */
  private last: ItemKey | undefined;
  private items = 0;

  constructor({ family, table, before }: Place) {
    this.table = table;
    this.isPair = isEntryFamily(family);
    this.last = before?.high;
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
    if (this.items === 0 && compareItemKeys(item, this.table.low) !== 0)
      this.note('begins elsewhere');
    this.items += 1;
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
