/** One exchange with the hub without a page: sends all unsent writes and waits for their verdicts, and pulls all changes. */
import { hexOfBytes } from '../../src/codec/hex.ts';
import { Refusal } from '../../src/errors.ts';
import type { WorkerMessage } from '../../src/host/api.ts';
import type { OpenOptions } from '../../src/host/open.ts';
import type { BackgroundSyncRequest } from '../../src/host/background.ts';
import { random } from '../browser/random.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import type { DatabaseStorage } from '../opening/find-store.ts';

/** How the exchange ended: `done` when there is nothing more to do for now, or a refusal when it must be retried. */
type End = 'done' | Refusal;

/**
 * Opens the database, also if tabs have it open, syncs and closes it. Resolves when everything is exchanged, or when no login is stored
 * with which to sync.
 * @throws Refusal when the sync is to be retried, for example because the hub was not reached in time
 */
export async function syncOnce(
  storage: DatabaseStorage,
  { name, settings }: BackgroundSyncRequest,
  limitMs: number,
): Promise<void> {
  const ended = new AbortController();
  let end: (how: End) => void = () => undefined;
  const told = new Promise<End>((resolve) => {
    end = resolve;
  });
  const options: OpenOptions = {
    name,
    // Without a query log: no page is open that could read it.
    settings: { ...settings, log: { ...settings.log, enabled: false } },
    rootSecret: undefined,
    birth: undefined,
    syncSecret: undefined,
    aliveLock: `burrow:background:${hexOfBytes(random(16))}`,
  };
  const late = setTimeout(
    () => end(new Refusal('connection_needed', 'The hub could not be reached in time.')),
    limitMs,
  );
  try {
    const database = await openDatabase({ ...storage, ended: ended.signal }, options, {
      emit: (message) => {
        if (isWithoutToken(message)) end('done');
      },
      onClosed: (description) => end(new Refusal('storage_unavailable', description)),
      onDestroyed: () => end('done'),
      onLock: () => end('done'),
    });
    if (database) await exchange(database, told);
  } finally {
    clearTimeout(late);
    ended.abort();
  }
}

async function exchange(
  { isLocked, sync, close }: Pick<OpenDatabase, 'isLocked' | 'sync' | 'close'>,
  told: Promise<End>,
): Promise<void> {
  try {
    if (isLocked || !(await sync.resume())) return;
    const exchanged = Promise.all([
      sync.wait({ for: 'settled', set: undefined }),
      sync.wait({ for: 'synced', set: undefined }),
    ]).then(() => sync.files.uploads.sendAll());
    const how = await Promise.race([exchanged.then((): End => 'done'), told]);
    if (how !== 'done') throw how;
  } finally {
    await close();
  }
}

/** Without a token, writes wait until a user logs in. The browser need not retry. */
const isWithoutToken = (message: WorkerMessage): boolean =>
  message.type === 'sync-state' && (message.state === 'needs-login' || message.state === 'locked');
