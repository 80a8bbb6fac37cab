/** Copies the data of a hub to another store, and verifies the copy. */
import type { Store } from '../../src/store/port.ts';
import { HUB_ROWS, newEpoch, put } from '../store/hub-rows.ts';
import { StoreFiller } from './fill-store.ts';
import { OperationFault } from './operation-fault.ts';
import { lineOf, readAllRows, Tally, tallyOf } from './stored-rows.ts';

export interface Moved {
  readonly rows: number;
  readonly sha256: string;
}

/**
 * The epoch is copied: for devices that sync it is the same hub. The source is marked, so that no hub serves it any more.
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
  // The last write of a move may have failed: its target is not whole, and nobody else has the data.
  if (moved && !(moved.value === targetName && (await isUnfinished(target))))
    throw new OperationFault(`This store was moved to ${String(moved.value)} before.`);
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
    async (tx) => tx.apply({ puts: [put(HUB_ROWS.moved, targetName)], deletes: [] }),
    { durability: 'strict' },
  );
  await filler.end(typeof epoch?.value === 'string' ? epoch.value : newEpoch());
  return copied;
}

async function isUnfinished(target: Store): Promise<boolean> {
  const [mark] = (await target.read((tx) => tx.fetch([HUB_ROWS.loading], []))).rows;
  return mark !== undefined;
}
