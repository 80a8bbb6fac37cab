/** Removes files that nothing on this device refers to. */
import { filesIn } from '../../../codec/file-names.ts';
import { EVERY_KEY } from '../../../codec/ranges.ts';
import type { Entry, Range, Store } from '../../../store/port.ts';
import { rangeAfter, scan } from '../../../store/scan.ts';
import type { FileName } from '../../protocol/files.ts';
import type { FileRecord, FileStore } from './file-store.ts';
import { usedNow } from './put-file.ts';
import { isToSend } from './send-files.ts';

/** Rows read in one transaction: queries are answered between two. */
const PAGE_ROWS = 256;

export interface SweepHost {
  /** The database with the documents, and with the writes that wait. */
  readonly database: Store;
  readonly store: FileStore;
  /** ms since 1970. */
  readonly nowMs: () => number;
  readonly pause: () => Promise<void>;
}

/**
 * @param before files put, received or asked for since then are kept, ms since 1970
 * @returns how many were removed: those to which nothing referred twice. All others are not looked for again before they are old once
 * more. A reference may move while it is looked for, and whoever has deleted a document may want it back.
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
