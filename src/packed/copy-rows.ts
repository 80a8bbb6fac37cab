/**
 * Copies the rows of one store into another, empty store, a slice at a time. Each slice's transaction also stores the
 * progress, so an interrupted copy continues where it stopped. Nothing else may write to either store during the copy.
 */
import { keyAfter, metaKey, type Key } from '../codec/key.ts';
import { EVERY_KEY } from '../codec/ranges.ts';
import { HOT_SPACES, type Row, type RowAddress, type Store, type WriteTx } from '../store/port.ts';
import { scan } from '../store/scan.ts';

type HotSpace = (typeof HOT_SPACES)[number];

/** Number of rows copied, by space. */
export type CopiedRows = Readonly<Record<HotSpace, number>>;

export interface CopyOptions {
  /** Limits of one slice: number of rows, and approximate bytes. */
  readonly sliceRows?: number;
  readonly sliceBytes?: number;
  /** Called after each slice with the number of rows copied so far, including earlier attempts. */
  readonly onSlice?: (rows: number) => void;
}

/** The row that holds the progress of a copy. Whoever makes the copied store valid must delete it. */
export const COPIED: RowAddress = { space: 'meta', key: metaKey('copied') };

interface Copied {
  readonly rows: CopiedRows;
  /** Undefined when everything is copied. */
  readonly next: { readonly space: HotSpace; readonly lower: Key } | undefined;
}

const SLICE_ROWS = 500;
const SLICE_BYTES = 512 * 1024;

/** Copies all rows that are not copied yet. When the promise resolves, they are stored durably. */
export async function copyRows(
  from: Store,
  to: Store,
  { sliceRows = SLICE_ROWS, sliceBytes = SLICE_BYTES, onSlice }: CopyOptions = {},
): Promise<CopiedRows> {
  let copied = await to.read(async (tx) => copiedIn((await tx.fetch([COPIED], [])).rows[0]));
  while (copied.next) {
    const { space, lower } = copied.next;
    const range = scan(space, { ...EVERY_KEY, lower }, { limit: sliceRows });
    const { ranges, truncation } = await from.read((tx) => tx.fetch([], [range], sliceBytes), {
      spaces: [space],
    });
    const rows = (ranges[0] ?? []).flatMap(({ row }) => row ?? []);
    const isEnd = rows.length < sliceRows && !truncation;
    copied = {
      rows: { ...copied.rows, [space]: copied.rows[space] + rows.length },
      next: isEnd ? startOf(spaceAfter(space)) : { space, lower: keyAfter(lastOf(rows, lower)) },
    };
    await to.write(async (tx) => putSlice(tx, space, rows, copied), {
      spaces: HOT_SPACES,
      durability: copied.next ? 'relaxed' : 'strict',
    });
    onSlice?.(Object.values(copied.rows).reduce((sum, each) => sum + each, 0));
  }
  return copied.rows;
}

function putSlice(tx: WriteTx, space: HotSpace, rows: readonly Row[], copied: Copied): void {
  const note = { key: COPIED.key, entries: [], value: JSON.stringify(copied) };
  tx.apply({
    puts: [...rows.map((row) => ({ space, row })), { space: COPIED.space, row: note }],
    deletes: [],
  });
}

/** Needs no check, because only this file writes the row. */
const copiedIn = (row: Row | undefined): Copied =>
  typeof row?.value === 'string'
    ? (JSON.parse(row.value) as Copied)
    : { rows: { documents: 0, history: 0, sync: 0, meta: 0 }, next: startOf(HOT_SPACES[0]) };

const startOf = (space: HotSpace | undefined): Copied['next'] =>
  space && { space, lower: EVERY_KEY.lower };

const spaceAfter = (space: HotSpace): HotSpace | undefined =>
  HOT_SPACES[HOT_SPACES.indexOf(space) + 1];

const lastOf = (rows: readonly Row[], lower: Key): Key => rows.at(-1)?.key ?? lower;
