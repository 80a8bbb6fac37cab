/** Merges tables of several runs into tables of one run, one key range at a time. */
import { LOWEST_KEY } from '../../codec/key.ts';
import { ALL_FAMILIES, type Family } from '../families.ts';
import type { ItemKey, Run, Table } from '../manifest.ts';
import { BlockAccess } from './block-access.ts';
import { ABOVE_ALL } from './cursor.ts';
import type { MaintenanceContext } from './flush.ts';
import { MergeCache } from './merge-cache.ts';
import { mergedInto, pickMerge, type MergePlan } from './pick-merge.ts';
import { RunCursor } from './run-cursor.ts';
import { TableWriter } from './table-writer.ts';

/**
 * Carries out one merge plan. Returns false when there is nothing to merge, or when another tab's merge has made the
 * plan invalid.
 */
export async function mergeOnce(context: MaintenanceContext): Promise<boolean> {
  const { tree, limits } = context;
  let next: { readonly family: Family; readonly plan: MergePlan } | undefined;
  for (const family of ALL_FAMILIES) {
    const plan = pickMerge(tree.version.manifest.families[family], limits);
    if (plan && plan.urgency > (next?.plan.urgency ?? 0)) next = { family, plan };
  }
  if (!next) return false;
  const { family, plan } = next;
  return (await tree.unlessGone(() => merge(context, family, plan))) ?? true;
}

async function merge(
  context: MaintenanceContext,
  family: Family,
  plan: MergePlan,
): Promise<boolean> {
  const { flips } = context;
  const inputs = plan.inputs.flat();
  const [only] = inputs;
  const isMove = only !== undefined && inputs.length === 1;
  return flips.bringIn(
    async (firstId) => (isMove ? [only] : writeMerged(context, family, plan, firstId)),
    (manifest, tables) => {
      const runs = mergedInto(manifest.families[family], plan, tables);
      return runs && { ...manifest, families: { ...manifest.families, [family]: runs } };
    },
  );
}

async function writeMerged(
  { tree, limits, pause }: MaintenanceContext,
  family: Family,
  plan: MergePlan,
  firstId: number,
): Promise<readonly Table[]> {
  const cache = new MergeCache(tree.cache);
  const source = new MergeSource(plan, new BlockAccess(cache));
  await source.load((access) => tree.load(access));
  const { sink } = cache;
  const writer = new TableWriter({ family, newest: source.newest(), firstId, limits, sink });
  for (let isOver = false; !isOver;) {
    isOver = source.moveInto(writer, plan.dropsDeletions, limits.sliceItems);
    const due = isOver ? writer.finish() : writer.due();
    if (due && due.length > 0) await tree.medium.putBlocks(due);
    await source.load((access) => tree.load(access));
    await pause();
  }
  return writer.tables;
}

/** The items of all inputs in order. Of items with the same key only the newest is used. */
class MergeSource {
  private readonly runs: readonly Run[];
  private readonly access: BlockAccess;
  private after: ItemKey | undefined = undefined;

  constructor({ runs, inputs }: MergePlan, access: BlockAccess) {
    this.runs = runs.flatMap((run, at) => {
      const tables = inputs[at] ?? [];
      return tables.length > 0 ? { ...run, tables } : [];
    });
    this.access = access;
    for (const { tables } of this.runs) for (const table of tables) access.index(table);
  }

  async load(load: (access: BlockAccess) => Promise<void>): Promise<void> {
    if (this.access.isMissing) await load(this.access);
  }

  /** The greatest number of a log record in any input. */
  newest(): number {
    const numbers = this.runs.flatMap(({ tables }) =>
      tables.map((table) => this.access.index(table)?.newest ?? 0),
    );
    return Math.max(0, ...numbers);
  }

  /** Writes up to this many items, or until there are enough bytes to put. Returns true when all items are written. */
  moveInto(writer: TableWriter, dropsDeletions: boolean, items: number): boolean {
    const cursors = this.cursors(items);
    for (let count = 0; count < items && !writer.isDue; count += 1) {
      if (cursors.some(({ state }) => state === 'missing')) return false;
      const first = firstOf(cursors);
      if (!first) return true;
      const { key, owner } = first;
      const body = first.body();
      if (body || !dropsDeletions) writer.add(key, owner, body);
      this.after = { key, owner };
      for (const cursor of cursors)
        if (cursor.state === 'item' && cursor.key === key && cursor.owner === owner) cursor.next();
    }
    return false;
  }

  private cursors(items: number): RunCursor[] {
    const { after } = this;
    const whole = { lower: LOWEST_KEY, upper: ABOVE_ALL, reverse: false, terms: undefined };
    return this.runs.map((run) => new RunCursor(run, this.access, { ...whole, after, items }));
  }
}

function firstOf(cursors: readonly RunCursor[]): RunCursor | undefined {
  let first: RunCursor | undefined;
  for (const cursor of cursors) {
    if (cursor.state !== 'item') continue;
    const isFirst =
      !first || cursor.key < first.key || (cursor.key === first.key && cursor.owner < first.owner);
    if (isFirst) first = cursor;
  }
  return first;
}
