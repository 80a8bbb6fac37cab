/** Copies a hub from one store to another, and proves that all came along. */
import type { Store } from '../../src/store/port.ts';
import { HUB_ROWS, newEpoch, put } from '../store/hub-rows.ts';
import { OperationFault, StoreFiller } from './fill-store.ts';
import { lineOf, readAllRows, Tally, tallyOf } from './stored-rows.ts';

export interface Moved {
  readonly rows: number;
  readonly sha256: string;
}

/**
 * The epoch goes along: for whoever syncs with it, it is the same hub. The source is marked, lest two go on as one.
 * @throws OperationFault
 */
export async function moveStore(
  source: Store,
  target: Store,
  targetName: string,
  onProgress: (task: 'copied' | 'verified', rows: number) => void,
): Promise<Moved> {
  const [epoch, moved] = (await source.read((tx) => tx.fetch([HUB_ROWS.epoch, HUB_ROWS.moved], [])))
    .rows;
  if (moved) throw new OperationFault(`This store was moved before, to ${String(moved.value)}.`);
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
      `${stored.rows} of ${copied.rows} rows arrived, or they differ: the target is marked as not whole.`,
    );
  await source.write(
    async (tx) => tx.apply({ puts: [put(HUB_ROWS.moved, targetName)], deletes: [] }),
    { durability: 'strict' },
  );
  await filler.end(typeof epoch?.value === 'string' ? epoch.value : newEpoch());
  return copied;
}
