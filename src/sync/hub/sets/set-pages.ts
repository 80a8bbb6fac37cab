/** Pages of sets: rows that a device does not have yet, in key order, at one snapshot. */
import { keyAfter, type Key } from '../../../codec/key.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Entry, Row } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import { type ResolvedRequest, type RequestedPart } from './requested-sets.ts';
import type { ReadRights } from '../rights/read-rights.ts';
import { scan } from '../../../store/scan.ts';

/** What remains of the limits for the pages of one answer. */
export interface PageBudget {
  bytes: number;
  rows: number;
  /** Whether the time slice is over, so that other requests can run. */
  readonly isOverdue: () => boolean;
}

const isSpent = ({ bytes, rows }: PageBudget): boolean => bytes <= 0 || rows <= 0;

const FIRST_ROWS = 64;
const ROWS_MAX = 4096;

/**
 * The sets as the device has them after this answer, in order of priority. Adds the documents of the pages to `found`.
 * @throws Suspended
 */
export function nextPages(
  reader: Reader,
  rights: ReadRights,
  sets: readonly ResolvedRequest[],
  budget: PageBudget,
  found: Map<Key, Row>,
): readonly ResolvedRequest[] {
  return sets.map((set) => {
    const parts = set.parts.map((part) => {
      if (part.end === part.range.upper || isSpent(budget) || budget.isOverdue()) return part;
      return { ...part, end: nextOfPart(reader, rights, part, budget, found) };
    });
    return { ...set, parts };
  });
}

function nextOfPart(
  reader: Reader,
  rights: ReadRights,
  { range, end }: RequestedPart,
  budget: PageBudget,
  found: Map<Key, Row>,
): Key {
  let lower = end;
  let rows = 0;
  let bytes = 0;
  for (;;) {
    const limit = limitFor(budget, rows, bytes);
    const page = reader.range(scan('documents', { ...range, lower }, { limit }));
    // When the time slice is over, the page ends. The first rows are always sent, so that there is progress.
    const may = eachElement(page, ({ key }, i) =>
      rows + i >= FIRST_ROWS && budget.isOverdue()
        ? 'undecided'
        : found.has(key) || rights.mayRead(key),
    );
    for (const [i, entry] of page.entries()) {
      if (isSpent(budget) || may[i] === 'undecided') return lower;
      budget.rows -= 1;
      rows += 1;
      lower = keyAfter(entry.entry);
      bytes += sizeOf(entry);
      if (may[i] !== true || !entry.row || found.has(entry.key)) continue;
      found.set(entry.key, entry.row);
      budget.bytes -= sizeOf(entry);
    }
    if (page.length < limit) return range.upper;
    if (isSpent(budget) || budget.isOverdue()) return lower;
  }
}

const sizeOf = ({ row }: Entry): number => row?.value.length ?? 0;

/** As many rows as will probably fit: more would be read in vain, fewer would need more reads. */
function limitFor(budget: PageBudget, rows: number, bytes: number): number {
  if (rows === 0) return Math.min(FIRST_ROWS, budget.rows);
  const each = Math.max(16, bytes / rows);
  return Math.min(Math.ceil(budget.bytes / each) + 1, ROWS_MAX, budget.rows);
}
