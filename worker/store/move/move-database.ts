/**
 * Turns a database of rows into a packed one: closes the connections of other tabs, copies the rows, and replaces them by the copy in
 * one step. A move that is interrupted continues where it was. See docs/decisions/0014-packed-store.md, "From rows to blocks".
 */
import { Refusal } from '../../../src/errors.ts';
import { copyRows } from '../../../src/packed/copy-rows.ts';
import type { Row, Store } from '../../../src/store/port.ts';
import { IndexedDbStore, type IndexedDbStoreOptions } from '../indexed-db-store.ts';
import { MOVING_LAYOUT } from '../layouts.ts';
import { flipLayout, staysRows } from './flip-layout.ts';
import { announcing, type MoveProgress } from './layout-lock.ts';
import { Staging, type StagingOptions } from './staging.ts';

export interface MoveOptions extends Omit<IndexedDbStoreOptions, 'layout'>, StagingOptions {
  readonly onProgress?: (progress: MoveProgress) => void;
  readonly sliceRows?: number;
}

/** Only one tab may call it at a time. @throws Refusal; the rows then stay authoritative, as before */
export async function moveDatabase(name: string, options: MoveOptions): Promise<void> {
  await requireRoom();
  const { mark, onProgress, sliceRows, onEnd: _, ...more } = options;
  try {
    await announcing(name, async (announce) => {
      const emit = (done: number, isComplete = false): void => {
        onProgress?.({ done, isComplete });
        announce({ done, isComplete });
      };
      emit(0);
      await mark?.set();
      const rows = new IndexedDbStore(name, { ...more, layout: MOVING_LAYOUT });
      await rows.open();
      const { birth } = rows;
      const staging = new Staging(name, more);
      try {
        await staging.open(birth);
        const { packed } = staging;
        const slices = { onSlice: emit, ...(sliceRows !== undefined && { sliceRows }) };
        const copied = await copyRows(rows, packed, slices);
        await staging.finish();
        const head = await readHead(packed, options);
        await staging.close();
        await rows.close();
        await flipLayout(
          name,
          { birth, rows: copied, head },
          { ...more, headAt: more.head.address },
        );
        emit(sumOf(copied), true);
      } finally {
        await staging.close();
        await rows.close();
      }
    });
  } catch (reason) {
    throw reason instanceof Refusal && reason.code === 'quota_exceeded' ? noRoom(reason) : reason;
  } finally {
    await mark?.remove();
  }
}

const sumOf = (copied: Readonly<Record<string, number>>): number =>
  Object.values(copied).reduce((sum, each) => sum + each, 0);

const readHead = (store: Store, { head }: MoveOptions): Promise<Row | undefined> =>
  store.read(async (tx) => (await tx.fetch([head.address], [])).rows[0]);

/**
 * For a while, all data is stored twice. A copy that runs out of space is rolled back anyway; this check avoids a useless copy at each
 * open.
 */
async function requireRoom(): Promise<void> {
  const { storage } = navigator as { readonly storage?: Pick<StorageManager, 'estimate'> };
  const { usage, quota } = (await storage?.estimate().catch(() => undefined)) ?? {};
  if (usage !== undefined && quota !== undefined && quota < 2 * usage) throw noRoom();
}

const noRoom = (cause?: Refusal): Refusal =>
  new Refusal(
    'quota_exceeded',
    staysRows(
      'There is no room to move the database into blocks, which for a while takes twice its size',
    ),
    { cause },
  );
