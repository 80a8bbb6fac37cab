/** Reads one row of a version. */
import type { Key } from '../../codec/key.ts';
import type { Row } from '../../store/port.ts';
import type { Block } from '../codec/block.ts';
import { readRowBody } from '../codec/stored-value.ts';
import { damageOf } from '../damage.ts';
import type { Family } from '../families.ts';
import type { Run, Table } from '../manifest.ts';
import type { BlockAccess } from './block-access.ts';
import { DELETED, memtableRow } from './memtable.ts';
import type { Version } from './version.ts';

/** A block is needed that is not cached. It was noted. */
export const MISSING = Symbol('missing');

/**
 * @param isThere an index entry shows that the row exists. If no newer run has it, the last run must have it, so its
 * filter is not checked
 */
export function pointRow(
  { layers, manifest }: Version,
  family: Family,
  key: Key,
  access: BlockAccess,
  isThere = false,
): Row | undefined | typeof MISSING {
  for (const { memtable } of layers) {
    const fresh = memtableRow(memtable, family, key);
    if (fresh) return fresh === DELETED ? undefined : fresh;
  }
  const runs = manifest.families[family];
  for (let at = 0; at < runs.length; at += 1) {
    const run = runs[at];
    const table = run && tableWith(run, key);
    const found = table && rowInTable(table, key, access, isThere && at === runs.length - 1);
    if (found === DELETED) return undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function rowInTable(
  table: Table,
  key: Key,
  access: BlockAccess,
  isSure: boolean,
): Row | undefined | typeof MISSING {
  const index = access.index(table);
  if (!index) return MISSING;
  if (!isSure && !index.mayContain(key)) return undefined;
  const block = access.block(table, index, index.blockOf(key, ''));
  if (!block) return MISSING;
  try {
    return rowInBlock(block, key);
  } catch (cause) {
    throw damageOf(cause, `a block of table ${table.first}`);
  }
}

function tableWith({ tables }: Run, key: Key): Table | undefined {
  let at = 0;
  let end = tables.length;
  while (at < end) {
    const middle = (at + end) >>> 1;
    if ((tables[middle]?.high.key ?? key) < key) at = middle + 1;
    else end = middle;
  }
  const table = tables[at];
  return table && table.low.key <= key ? table : undefined;
}

function rowInBlock(block: Block, key: Key): Row | undefined {
  const found = block.floor(key, '');
  if (!found?.isEqual) return undefined;
  const body = block.bodyOf(found);
  return body ? readRowBody(key, body) : DELETED;
}
