/** One row of a version. */
import type { Key } from '../../codec/key.ts';
import { firstIndex } from '../../store/binary-search.ts';
import type { Row } from '../../store/port.ts';
import type { Block } from '../codec/block.ts';
import { readRowBody } from '../codec/stored-value.ts';
import { readingOf } from '../damage.ts';
import type { Family } from '../families.ts';
import type { Run, Table } from '../manifest.ts';
import type { BlockAccess } from './block-access.ts';
import { DELETED, memtableRow } from './memtable.ts';
import type { Version } from './version.ts';

/** A block is needed that is not cached; it was noted. */
export const MISSING = Symbol('missing');

export function pointRow(
  { layers, manifest }: Version,
  family: Family,
  key: Key,
  access: BlockAccess,
): Row | undefined | typeof MISSING {
  for (const { memtable } of layers) {
    const fresh = memtableRow(memtable, family, key);
    if (fresh) return fresh === DELETED ? undefined : fresh;
  }
  for (const run of manifest.families[family]) {
    const found = rowInRun(run, key, access);
    if (found === DELETED) return undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function rowInRun(run: Run, key: Key, access: BlockAccess): Row | undefined | typeof MISSING {
  const table = tableWith(run, key);
  if (!table) return undefined;
  const index = access.index(table);
  if (!index) return MISSING;
  if (!index.mayContain(key)) return undefined;
  const block = access.block(table, index, index.blockOf(key, ''));
  if (!block) return MISSING;
  return readingOf(
    () => `a block of table ${table.first}`,
    () => rowInBlock(block, key),
  );
}

function tableWith({ tables }: Run, key: Key): Table | undefined {
  const at = firstIndex(tables.length, (i) => (tables[i]?.high.key ?? key) < key);
  const table = tables[at];
  return table && table.low.key <= key ? table : undefined;
}

function rowInBlock(block: Block, key: Key): Row | undefined {
  const found = block.floor(key, '');
  if (!found?.isEqual) return undefined;
  const body = block.bodyOf(found);
  return body ? readRowBody(key, body) : DELETED;
}
