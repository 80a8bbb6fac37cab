/** Copies the data of a hub to another store and verifies the copy. */
import type { Store } from '../../src/store/port.ts';
import { HEAD } from '../../src/engine/transactions.ts';
import { HUB_ROWS, movedTo, newEpoch, put, requireWhole } from '../store/hub-rows.ts';
import { StoreFiller } from './fill-store.ts';
import { OperationFault } from './operation-fault.ts';
import { lineOf, readAllRows, Tally, tallyOf } from './stored-rows.ts';

export interface Moved {
  readonly rows: number;
  readonly sha256: string;
}

/**
 * Copies the epoch too, so that for syncing devices the target is the same hub. Marks the source, so that no hub serves it any
 * more.
 * @throws OperationFault
 */
export async function moveStore(
  source: Store,
  target: Store,
  targetName: string,
  onProgress: (task: 'copied' | 'verified', rows: number) => void,
): Promise<Moved> {
  await requireWhole(source);
  const moved = await movedTo(source);
  // A move to the same target may be repeated if its last write failed: then the source is marked as moved, but the target is
  // still marked as incomplete.
  if (moved !== undefined && !(moved === targetName && (await isUnfinished(target))))
    throw new OperationFault(`This store was moved to ${moved} before.`);
  const [epoch, head] = (await source.read((tx) => tx.fetch([HUB_ROWS.epoch, HEAD], []))).rows;
  const filler = new StoreFiller(target);
  await filler.begin();
  const tally = new Tally();
  await readAllRows(source, async (rows) => {
    for (const row of rows) {
      tally.add(lineOf(row));
      await filler.add(row);
    }
    onProgress('copied', tally.rows);
  });
  await filler.flush();
  const copied = tally.end();
  const stored = await tallyOf(target, (rows) => onProgress('verified', rows));
  if (stored.rows !== copied.rows || stored.sha256 !== copied.sha256)
    throw new OperationFault(
      `The copy has ${stored.rows} of ${copied.rows} rows, or other contents: the target stays marked as incomplete.`,
    );
  await source.write(
    async (tx) => {
      const [last] = (await tx.fetch([HEAD], [])).rows;
      if (last?.value !== head?.value) throw new OperationFault(WRITTEN_MEANWHILE);
      tx.apply({ puts: [put(HUB_ROWS.moved, targetName)], deletes: [] });
    },
    { durability: 'strict' },
  );
  await filler.end(typeof epoch?.value === 'string' ? epoch.value : newEpoch());
  return copied;
}

const WRITTEN_MEANWHILE =
  'A hub wrote to the store while it was being copied: stop all hubs that use it, and run the move again. The target stays marked as incomplete.';

async function isUnfinished(target: Store): Promise<boolean> {
  const [mark] = (await target.read((tx) => tx.fetch([HUB_ROWS.loading], []))).rows;
  return mark !== undefined;
}
