/** Reads blocks that no query has needed yet into memory while the store is idle. */
import { Refusal } from '../../errors.ts';
import { FAMILY, type Family } from '../families.ts';
import type { TableIndex } from '../codec/table-index.ts';
import { compareItemKeys, type Table } from '../manifest.ts';
import { BlockAccess, BlockMissing } from './block-access.ts';
import type { Tree } from './tree.ts';

export interface WarmOptions {
  /** Warming ends when the blocks in memory take this many bytes. */
  readonly bytesMax: number;
  /** Called before each read. Resolves when there is time for it. */
  readonly idle: () => Promise<void>;
  /** Called before each read. */
  readonly isStopped: () => boolean;
}

/** Each read loads about this many bytes. A query that arrives meanwhile waits for it: 1 MB takes Chromium about 5 ms. */
const READ_BYTES = 256 * 1024;

/** The families that queries need first. Superseded versions are rarely read. */
const WARMED: readonly Family[] = [
  FAMILY.meta,
  FAMILY.sync,
  FAMILY.documentEntries,
  FAMILY.documents,
];

/**
 * Each family takes at most this share of the remaining bytes, so that the entries of a large tree leave room for
 * documents.
 */
const SHARE = 1 / 2;

export async function warm(tree: Tree, { bytesMax, idle, isStopped }: WarmOptions): Promise<void> {
  for (const family of WARMED) {
    const isLast = family === WARMED.at(-1);
    const room = bytesMax - tree.cache.blockBytes;
    const end = isLast ? bytesMax : tree.cache.blockBytes + room * SHARE;
    /** For each table, by its first id, the block to continue with. */
    const read = new Map<number, number>();
    for (let reads = 0; ; reads += 1) {
      await idle();
      const table = nextTable(tree, family, read, reads % 2 === 0 ? isNewer : isLower);
      if (!table || tree.cache.blockBytes >= end) break;
      if (isStopped()) return;
      const from = read.get(table.first) ?? 0;
      read.set(table.first, await readSome(tree, table, from, end - tree.cache.blockBytes));
    }
  }
}

type Precedes = (a: Table, b: Table) => boolean;

/** Applications usually show what was written last. */
const isNewer: Precedes = (a, b) => a.first > b.first;
/** Pages of a set begin with the lowest keys. */
const isLower: Precedes = (a, b) => compareItemKeys(a.low, b.low) < 0;

function nextTable(
  tree: Tree,
  family: Family,
  read: ReadonlyMap<number, number>,
  precedes: Precedes,
): Table | undefined {
  let next: Table | undefined;
  for (const { tables } of tree.version.manifest.families[family])
    for (const table of tables)
      if (read.get(table.first) !== WHOLE && (!next || precedes(table, next))) next = table;
  return next;
}

const WHOLE = Infinity;

/** Returns the block to continue with, or `WHOLE` if nothing more of the table has to be read. */
async function readSome(tree: Tree, table: Table, from: number, room: number): Promise<number> {
  const access = new BlockAccess(tree.cache);
  const index = access.index(table);
  const at = index ? wantBlocks(tree, access, table, index, from, room) : from;
  if (!access.isMissing) return WHOLE;
  try {
    await tree.load(access);
    return at;
  } catch (reason) {
    // Another tab has just merged the table, or it is damaged. A read that needs it gets the error again.
    if (reason instanceof BlockMissing || reason instanceof Refusal) return WHOLE;
    throw reason;
  }
}

/** Notes blocks to load. Returns the block behind the last one noted. */
function wantBlocks(
  { cache }: Tree,
  access: BlockAccess,
  table: Table,
  index: TableIndex,
  from: number,
  room: number,
): number {
  const bytesMax = Math.min(READ_BYTES, room);
  const bytesPerBlock = table.bytes / index.blocks;
  let at = from;
  for (let bytes = 0; at < index.blocks && bytes < bytesMax; at += 1) {
    // `peek`, because a read through the access would count as a use.
    if (cache.peek(table.first + index.span(at).first)) continue;
    access.block(table, index, at);
    bytes += bytesPerBlock;
  }
  return at;
}
