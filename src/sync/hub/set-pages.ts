/** Pages of sets: the rows a device does not have yet, in the order of their keys, at one time. */
import type { Key } from '../../codec/key.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Entry, Row } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { keyBehind, type AskedSet, type HeldPart } from './asked-sets.ts';
import type { Rights } from './rights.ts';

/** What is left for the pages of one answer. */
export interface PageBudget {
  bytes: number;
  rows: number;
  /** Whether others have waited long enough. */
  readonly isLate: () => boolean;
}

const isSpent = ({ bytes, rows }: PageBudget): boolean => bytes <= 0 || rows <= 0;

const FIRST_ROWS = 64;
const ROWS_MAX = 4096;

/**
 * The sets as the device has them after this answer, in the order of priority; documents are added to `found`.
 * @throws Suspended
 */
export function nextPages(
  reader: Reader,
  rights: Rights,
  sets: readonly AskedSet[],
  budget: PageBudget,
  found: Map<Key, Row>,
): readonly AskedSet[] {
  return sets.map((set) => {
    const parts = set.parts.map((part) => {
      if (part.end === part.range.upper || isSpent(budget) || budget.isLate()) return part;
      return { ...part, end: nextOfPart(reader, rights, part, budget, found) };
    });
    return { ...set, parts };
  });
}

function nextOfPart(
  reader: Reader,
  rights: Rights,
  { range, end }: HeldPart,
  budget: PageBudget,
  found: Map<Key, Row>,
): Key {
  let lower = end;
  let rows = 0;
  let bytes = 0;
  for (;;) {
    const limit = limitFor(budget, rows, bytes);
    const page = reader.range({
      ...range,
      space: 'documents',
      lower,
      reverse: false,
      limit,
      rows: true,
    });
    // What it has come to when it is late is sent; of the first rows all, or it would never come further.
    const may = eachElement(page, ({ key }, i) =>
      rows + i >= FIRST_ROWS && budget.isLate()
        ? 'not asked'
        : found.has(key) || rights.mayRead(key),
    );
    for (const [i, entry] of page.entries()) {
      if (isSpent(budget) || may[i] === 'not asked') return lower;
      budget.rows -= 1;
      rows += 1;
      lower = keyBehind(entry.entry);
      bytes += sizeOf(entry);
      if (may[i] !== true || !entry.row || found.has(entry.key)) continue;
      found.set(entry.key, entry.row);
      budget.bytes -= sizeOf(entry);
    }
    if (page.length < limit) return range.upper;
    if (isSpent(budget) || budget.isLate()) return lower;
  }
}

const sizeOf = ({ row }: Entry): number => row?.value.length ?? 0;

/** As many rows as will probably fit: more would be read in vain, fewer would take many turns. */
function limitFor(budget: PageBudget, rows: number, bytes: number): number {
  if (rows === 0) return Math.min(FIRST_ROWS, budget.rows);
  const each = Math.max(16, bytes / rows);
  return Math.min(Math.ceil(budget.bytes / each) + 1, ROWS_MAX, budget.rows);
}

/** How many documents the sets hold; undefined when there are very many. @throws Suspended */
export function countOf(reader: Reader, parts: readonly HeldPart[]): number | undefined {
  const limit = SYNC_LIMITS.countedDocuments + 1;
  const keys = new Set<Key>();
  for (const { range } of parts) {
    const page = reader.range({ ...range, space: 'documents', reverse: false, limit, rows: false });
    if (page.length === limit) return undefined;
    for (const { key } of page) keys.add(key);
  }
  return keys.size;
}
