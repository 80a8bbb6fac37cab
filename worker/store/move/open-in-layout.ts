/** Opens a database in the layout in which it is stored. If wanted and possible, a database of rows is first moved into blocks. */
import { assert } from '../../../src/errors.ts';
import type { BrowserStore } from '../browser-store.ts';
import { OtherLayout } from '../idb-connection.ts';
import type { IndexedDbStoreOptions } from '../indexed-db-store.ts';
import {
  MOVING_LAYOUT,
  PACKED_LAYOUT,
  ROWS_LAYOUT,
  type Layout,
  type StoreKind,
} from '../layouts.ts';
import { openIndexedDbStore, openPackedDatabase } from '../open-layout.ts';
import type { PackedDatabaseOptions } from '../packed/packed-database.ts';
import { whileListening, layoutLock, type LayoutLock, type MoveProgress } from './layout-lock.ts';
import { dropStaging } from './staging.ts';

export interface OpenInLayout {
  /** The layout of a new database. `packed`: a database of rows is moved too, if possible. */
  readonly wanted: StoreKind;
  readonly options: PackedDatabaseOptions & IndexedDbStoreOptions;
  readonly move: (onProgress: (progress: MoveProgress) => void) => Promise<void>;
  readonly onMove: (progress: MoveProgress) => void;
  readonly onMoveFailed: (reason: unknown) => void;
}

/** Between two attempts, other tabs may move the database, or delete and recreate it. */
const TRIES_MAX = 8;

export async function openInLayout(name: string, how: OpenInLayout): Promise<BrowserStore> {
  const lock = layoutLock(name);
  let layout = how.wanted === 'packed' ? PACKED_LAYOUT : ROWS_LAYOUT;
  let mayMove = how.wanted === 'packed' && lock !== undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return await openAs(layout, name, how, lock);
    } catch (reason) {
      if (!(reason instanceof OtherLayout) || tries >= TRIES_MAX) throw reason;
      ({ layout } = reason);
    }
    if (!lock || !mayMove || layout.kind !== 'rows') continue;
    mayMove = false;
    await moved(name, how, lock);
    layout = PACKED_LAYOUT;
  }
}

/** Resolves when the rows were moved, here or in another tab, or cannot be moved for now. */
async function moved(name: string, how: OpenInLayout, lock: LayoutLock): Promise<void> {
  try {
    const outcome = await lock.exclusively(() => how.move(how.onMove));
    if (outcome !== 'elsewhere') return;
    const letGo = await whileListening(name, how.onMove, () => lock.beside());
    letGo();
  } catch (reason) {
    // A OtherLayout error means that another tab has moved or deleted the database.
    if (!(reason instanceof OtherLayout)) how.onMoveFailed(reason);
  }
}

async function openAs(
  layout: Layout,
  name: string,
  { options }: OpenInLayout,
  lock: LayoutLock | undefined,
): Promise<BrowserStore> {
  if (layout === PACKED_LAYOUT) return openPackedDatabase(name, options);
  if (layout === ROWS_LAYOUT) return openIndexedDbStore(name, options);
  assert(layout === MOVING_LAYOUT, () => `no store has version ${layout.version}`);
  const onReleased = await lock?.beside();
  try {
    await dropStaging(name, options);
    const more = onReleased ? { layout, onReleased } : { layout };
    return await openIndexedDbStore(name, { ...options, ...more });
  } catch (reason) {
    onReleased?.();
    throw reason;
  }
}
