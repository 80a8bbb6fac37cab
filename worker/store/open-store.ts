/** Opens the stored database with a given name in the browser: IndexedDB, opened by Dexie. */
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import type { StoreEnd } from './reconnecting-connection.ts';
import { moveDatabase } from './move/move-database.ts';
import { openInLayout } from './move/open-in-layout.ts';
import { PackedDatabase } from './packed/packed-database.ts';
import { renewLogAfterKill } from './renew-log.ts';
import {
  deletedElsewhere,
  type StoredDatabase,
  type StoreHandlers,
  type StoreRequest,
} from './stored-database.ts';
import { canTearLog, WriteMark } from './write-mark.ts';

/**
 * Opens the database of an engine. A new database gets the layout in the settings. An existing one is moved to it if possible, otherwise
 * it keeps its layout.
 */
export async function openStoredDatabase(
  { name, aliveLock, settings }: StoreRequest,
  { onClosed, leaseTerm, onMove, onMoveFailed }: StoreHandlers,
): Promise<StoredDatabase> {
  // A move uses it too: a log that was in doubt then still is when the move has ended.
  const mark = canTearLog(navigator.userAgent) ? new WriteMark(name, aliveLock) : undefined;
  const marked = mark ? { mark } : {};
  const head = { address: HEAD, read: headOf };
  const store = await openInLayout(name, {
    wanted: settings.store,
    options: { head, ...marked, onEnd: (end) => onClosed(ENDS[end]), leaseTerm },
    move: (onProgress) => moveDatabase(name, { head, ...marked, onProgress }),
    onMove: onMove ?? nothing,
    onMoveFailed: onMoveFailed ?? nothing,
  });
  const packed = store instanceof PackedDatabase ? store : undefined;
  return {
    store,
    birth: store.birth,
    isNew: store.isNew,
    loss: store.loss,
    acknowledgeLoss: () => store.acknowledgeLoss(),
    afterEnds: async (ended) => {
      if (mark) await renewLogAfterKill(ended);
    },
    maybeFlush: async () => packed?.maybeFlush(),
    verify: async () => (await packed?.verify()) ?? [],
    destroy: () => store.destroy(),
  };
}

const nothing = (): void => undefined;

const ENDS = {
  'upgraded by another tab':
    'Another tab has a newer version of the app and is upgrading the database. Reload the page.',
  'deleted by another tab': deletedElsewhere(),
  lost: 'The browser deleted the stored data while the database was open. Nothing more is written. Open it again, or reload the page.',
} satisfies Record<StoreEnd, string>;
