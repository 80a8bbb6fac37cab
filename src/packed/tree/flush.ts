/** Writes the oldest memtable into tables and trims its commits from the log. */
import { LOWEST_KEY } from '../../codec/key.ts';
import type { SortedEntries } from '../../store/sorted-entries.ts';
import { ByteWriter } from '../codec/byte-writer.ts';
import { Block } from '../codec/block.ts';
import { TableIndex } from '../codec/table-index.ts';
import { writeRowBody } from '../codec/stored-value.ts';
import { ALL_FAMILIES, isEntryFamily, type Family } from '../families.ts';
import type { PackedLimits } from '../limits.ts';
import { compareItemKeys, familiesOf, type Manifest, type Runs, type Table } from '../manifest.ts';
import { ABOVE_ALL } from './cursor.ts';
import type { Flips } from './flip.ts';
import { DELETED } from './memtable.ts';
import { TableWriter, type TableSink } from './table-writer.ts';
import type { Tree } from './tree.ts';
import type { Layer } from './version.ts';

export interface MaintenanceContext {
  readonly tree: Tree;
  readonly flips: Flips;
  readonly limits: PackedLimits;
  /** Resolves after other work has had time to run. */
  readonly pause: () => Promise<void>;
}

/** Returns false when there was nothing to flush, or when another tab has flushed in the meantime. */
export async function flush(context: MaintenanceContext): Promise<boolean> {
  const { tree, flips } = context;
  const layer = tree.seal();
  if (!layer) return false;
  const { manifest: before } = tree.version;
  return flips.bringIn(
    (firstId) => writeTables(context, layer, before, firstId),
    (manifest, tables) =>
      manifest.flushed === before.flushed
        ? flushedInto(manifest, layer.through, tables, context.limits)
        : undefined,
  );
}

type NewTables = Readonly<Record<Family, readonly Table[]>>;

async function writeTables(
  { tree, limits, pause }: MaintenanceContext,
  { memtable, through }: Layer,
  manifest: Manifest,
  firstId: number,
): Promise<NewTables> {
  const tables: Record<Family, readonly Table[]> = familiesOf(() => []);
  let nextId = firstId;
  let slice = 0;
  for (const family of ALL_FAMILIES) {
    const sink = cacheOf(tree);
    const writer = new TableWriter({ family, newest: through, firstId: nextId, limits, sink });
    const isBottommost = manifest.families[family].length === 0;
    for (const { key, owner, body } of itemsOf(memtable.families[family], family)) {
      // Without older runs a deletion marker would hide nothing.
      if (body || !isBottommost) writer.add(key, owner, body);
      slice += 1;
      if (slice < limits.sliceItems && !writer.isDue) continue;
      slice = 0;
      const due = writer.due();
      if (due) await tree.medium.putBlocks(due);
      await pause();
    }
    const rest = writer.finish();
    if (rest.length > 0) await tree.medium.putBlocks(rest);
    tables[family] = writer.tables;
    ({ nextId } = writer);
  }
  return tables;
}

/** Puts new blocks into the cache, so that this tab need not read them again. */
const cacheOf = ({ cache }: Tree): TableSink => ({
  block: (first, bytes) => cache.put(first, new Block(bytes)),
  index: (first, bytes) => cache.putIndex({ first }, new TableIndex(bytes)),
});

function* itemsOf(
  list: SortedEntries,
  family: Family,
): Generator<{ key: string; owner: string; body: Uint8Array | undefined }> {
  const out = new ByteWriter();
  const isEntry = isEntryFamily(family);
  for (const { entry, key, row } of list.within(EVERYTHING)) {
    const owner = isEntry ? key : '';
    if (!row || row === DELETED) yield { key: entry, owner, body: undefined };
    else if (isEntry) yield { key: entry, owner, body: NO_BODY };
    else {
      out.clear();
      writeRowBody(out, row);
      yield { key: entry, owner, body: out.view() };
    }
  }
}

const EVERYTHING = {
  lower: LOWEST_KEY,
  upper: ABOVE_ALL,
  limit: Infinity,
  reverse: false,
};
const NO_BODY = new Uint8Array(0);

function flushedInto(
  manifest: Manifest,
  flushed: number,
  tables: NewTables,
  limits: PackedLimits,
): Manifest {
  const families = familiesOf((family) =>
    withNewRun(manifest.families[family], tables[family], limits),
  );
  return { ...manifest, flushed, families };
}

/** A run whose keys are above those of all other runs is appended to the oldest run, because it needs no merging. */
function withNewRun(runs: Runs, tables: readonly Table[], limits: PackedLimits): Runs {
  const [first] = tables;
  if (!first) return runs;
  const oldest = runs.at(-1);
  const isAfter = runs.every((run) =>
    run.tables.every(({ high }) => compareItemKeys(high, first.low) < 0),
  );
  if (!oldest || !isAfter) return [{ level: 0, isMerging: false, tables }, ...runs];
  const grown = [...oldest.tables, ...tables];
  // The level that a run of this size would have reached by merging. It is merged once there are enough runs of this level.
  const level = oldest.isMerging ? 0 : levelOf(grown, limits);
  const run = { ...oldest, level: Math.max(oldest.level, level), tables: grown };
  return [...runs.slice(0, -1), run];
}

function levelOf(
  tables: readonly Table[],
  { memtableBytesMax, runsPerLevel }: PackedLimits,
): number {
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
  return Math.max(0, Math.floor(Math.log(bytes / memtableBytesMax) / Math.log(runsPerLevel)));
}
