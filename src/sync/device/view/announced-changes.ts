/** The changes that caches and live queries are notified of when the data shown changes. */
import type { Announced } from '../../../engine/transactions.ts';
import { isEntrySpace, type Row, type RowAddress, type WriteSet } from '../../../store/port.ts';

type Entries = Row['entries'];

/**
 * Rows of the effects, with their index entries before and after the change.
 * @param before returns the row before the change
 */
export function announcedChanges(
  effects: readonly WriteSet[],
  before: (address: RowAddress) => { readonly entries: Entries } | undefined,
): Announced {
  const rows: Announced['rows'][number][] = [];
  const entries: Announced['entries'][number][] = [];
  const add = (address: RowAddress, present: Entries): void => {
    const { space, key } = address;
    if (!isEntrySpace(space)) return;
    rows.push({ space, key });
    for (const entry of before(address)?.entries ?? []) entries.push({ space, key: entry });
    for (const entry of present) entries.push({ space, key: entry });
  };
  for (const { puts, deletes } of effects) {
    for (const { space, row } of puts) add({ space, key: row.key }, row.entries);
    for (const address of deletes) add(address, []);
  }
  return { rows, entries };
}
