/** Removes files to which nothing on this device refers. */
import { filesIn } from '../../../codec/file-names.ts';
import { EVERY_KEY } from '../../../codec/ranges.ts';
import type { Entry, Range, Store } from '../../../store/port.ts';
import { rangeAfter, scan } from '../../../store/scan.ts';
import type { FileName } from '../../protocol/files.ts';
import type { FileRecord, FileStore } from './file-store.ts';
import { usedNow } from './put-file.ts';
import { isToSend } from './send-files.ts';

/** Rows read per transaction. Queries can run between two transactions. */
const PAGE_ROWS = 256;

export interface SweepHost {
  /** The database with the documents and the outbox. */
  readonly database: Store;
  readonly store: FileStore;
  /** ms since the Unix epoch. */
  readonly nowMs: () => number;
  readonly pause: () => Promise<void>;
}

/**
 * Removes files that no row refers to in two consecutive sweeps, because a reference may move during a sweep, and a deleted document may be
 * restored. Files that were checked but not removed count as used now, so the next sweeps do not check them until they are old again.
 * @param before files stored, received or requested since then are kept, ms since the Unix epoch
 * @returns how many files were removed
 */
export async function sweepFiles(
  before: number,
  { database, store, nowMs, pause }: SweepHost,
): Promise<number> {
  const isOld = (record: FileRecord): boolean => record.usedMs < before && !isToSend(record);
  const candidates = new Set(
    (await store.records()).filter(isOld).map(({ file }): FileName => file),
  );
  if (candidates.size === 0) return 0;
  const referred = new Set<FileName>();
  const note = (file: FileName): void => {
    if (candidates.delete(file)) referred.add(file);
  };
  for (const space of ['sync', 'documents'] as const) {
    let range: Range | undefined = scan(space, EVERY_KEY, { limit: PAGE_ROWS });
    while (range && candidates.size > 0) {
      const entries: readonly Entry[] = await readPage(database, range);
      for (const { row } of entries)
        if (typeof row?.value === 'string') filesIn(row.value).forEach(note);
      const last = entries.at(-1);
      range = last && entries.length === PAGE_ROWS ? rangeAfter(range, last) : undefined;
      await pause();
    }
  }
  for (const file of referred)
    await store.update(file, (before) => before && usedNow(before, { nowMs }));
  let removed = 0;
  for (const file of candidates)
    if (await store.remove(file, (record) => isOld(record) && record.isMissed === true))
      removed += 1;
    else
      await store.update(
        file,
        (found) => found && { ...usedNow(found, { nowMs }), isMissed: true },
      );
  return removed;
}

const readPage = (database: Store, range: Range): Promise<readonly Entry[]> =>
  database.read(async (tx) => (await tx.fetch([], [range])).ranges[0] ?? [], {
    spaces: [range.space],
  });
