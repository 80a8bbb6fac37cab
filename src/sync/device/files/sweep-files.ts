/** Removes files that nothing on this device refers to. */
import { filesIn } from '../../../codec/file-names.ts';
import { EVERY_KEY } from '../../../codec/ranges.ts';
import type { Found, Range, Store } from '../../../store/port.ts';
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
 * @returns how many were removed. Those that are referred to are not looked for again before they are old once more.
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
  const lookThrough = async (fetch: (range: Range) => Promise<Found>): Promise<void> => {
    for (const space of REFERRING.spaces) {
      let range: Range | undefined = scan(space, EVERY_KEY, { limit: PAGE_ROWS });
      while (range && candidates.size > 0) {
        const [entries = []]: Found['ranges'] = (await fetch(range)).ranges;
        for (const { row } of entries)
          if (typeof row?.value === 'string') filesIn(row.value).forEach(note);
        const last = entries.at(-1);
        range = last && entries.length === PAGE_ROWS ? rangeAfter(range, last) : undefined;
      }
    }
  };
  await lookThrough(async (range) => {
    await pause();
    return database.read((tx) => tx.fetch([], [range]), REFERRING);
  });
  // A reference may have moved meanwhile, to a row that was read before: what is left is looked for at one time.
  await database.read((tx) => lookThrough((range) => tx.fetch([], [range])), REFERRING);
  for (const file of referred)
    await store.update(file, (before) => before && usedNow(before, { nowMs }));
  let removed = 0;
  for (const file of candidates) if (await store.remove(file, isOld)) removed += 1;
  return removed;
}

/** Where files are referred to: writes that wait, and documents. */
const REFERRING = { spaces: ['sync', 'documents'] } as const;
