/** Changes of the stored rows from one format to the next. There is no second format yet, so no bundle contains this. */
import { EVERY_KEY } from '../../src/codec/ranges.ts';
import { scan } from '../../src/store/scan.ts';
import { SPACES, type Space, type WriteTx } from '../../src/store/port.ts';
import { isStamp, STAMP_KEY } from './birth-stamp.ts';
import type { IdbTransaction } from './idb-transaction.ts';

/** Rows from one format to the next, in one transaction. */
export type Migration = (tx: WriteTx) => Promise<void>;

export interface Migrations {
  readonly count: number;
  /** Moves the data from this format to the next, unless another tab has done so. */
  readonly run: (tx: IdbTransaction, format: number) => Promise<void>;
}

/** @param steps from format 1 on, in order */
export const migrationsOf = (steps: readonly Migration[]): Migrations => ({
  count: steps.length,
  run: async (tx, format) => {
    const step = steps[format - 1];
    if (step) await migrate(tx, format, step);
  },
});

async function migrate(tx: IdbTransaction, format: number, migration: Migration): Promise<void> {
  const stamps = await Promise.all(SPACES.map((space) => tx.raw(space, STAMP_KEY)));
  const meta = stamps[SPACES.indexOf('meta')];
  if (!isStamp(meta) || meta.format !== format) return;
  await remark(tx);
  await migration(tx);
  for (const [i, stamp] of stamps.entries()) {
    const space: Space | undefined = SPACES[i];
    if (space && isStamp(stamp)) tx.putRaw(space, { ...stamp, format: format + 1 });
  }
}

/** Rows of `meta` tell older code that they are not of its format any more. */
async function remark(tx: IdbTransaction): Promise<void> {
  const { ranges } = await tx.fetch([], [scan('meta', EVERY_KEY, { limit: Infinity })]);
  const rows = (ranges[0] ?? []).flatMap(({ row }) => row ?? []);
  tx.apply({ puts: rows.map((row) => ({ space: 'meta', row })), deletes: [] });
}
