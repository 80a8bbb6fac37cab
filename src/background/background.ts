/**
 * `burrowdb/background`: sync goes on when no page of the app is open, where the browser has Background Sync; and a question before
 * somebody leaves who has unsent writes, where it has not.
 */
import { UsageError, type Database, type Sync } from '../index.ts';
import { backgroundTag } from '../host/background.ts';
import { watchUnsent } from './unsent.ts';

export interface BackgroundOptions {
  /**
   * Fetch what is new about so often while the app is closed. The browser decides when, and does it for installed apps only. Left
   * out: only what is unsent is sent.
   */
  readonly fetchEveryHours?: number;
}

export interface BackgroundSync {
  /** Unsent writes and files go out when the device has a network again, also after the last page was closed. */
  readonly sends: boolean;
  /** What is new is fetched now and then. */
  readonly fetches: boolean;
  /** Sends and fetches with open pages only, from now on. */
  readonly stop: () => Promise<void>;
}

/** Parts of a service worker's registration that only some browsers have. */
interface Registration {
  readonly sync?: { register(tag: string): Promise<void> };
  readonly periodicSync?: {
    register(tag: string, options: { readonly minInterval: number }): Promise<void>;
    unregister(tag: string): Promise<void>;
  };
}

const HOUR_MS = 3_600_000;

/**
 * Has the service worker of the app go on with the sync of a database when its pages are closed: it must import the engine, see
 * docs/sync.md. Firefox and Safari have no Background Sync: `sends` is false there, and writes wait for the next visit.
 * @throws UsageError when an option is wrong, or the page has no service worker
 * @example
 * await navigator.serviceWorker.register('service-worker.js?engine=worker.js');
 * const { sends } = await syncInBackground(db, sync, { fetchEveryHours: 12 });
 * if (!sends) askBeforeLeaving(sync, db);
 */
export async function syncInBackground(
  db: Database,
  sync: Sync,
  options: BackgroundOptions = {},
): Promise<BackgroundSync> {
  if (typeof options !== 'object' || !options)
    throw new UsageError(`Options must be an object, not ${String(options && typeof options)}.`);
  const { fetchEveryHours, ...others } = options;
  for (const name of Object.keys(others))
    throw new UsageError(`There is no option \`${name}\`. There is: fetchEveryHours.`);
  const isNumber = typeof fetchEveryHours === 'number' && fetchEveryHours > 0;
  if (fetchEveryHours !== undefined && !isNumber)
    throw new UsageError('The option `fetchEveryHours` must be a number above 0.');
  if (!(db as Partial<Database> | null)?.stored || db.files !== sync?.files)
    throw new UsageError('Pass an open database and its sync: what `db.sync()` gave.');
  const registration = await registered();
  const tag = backgroundTag(db.stored);
  const { sync: sending, periodicSync: fetching } = registration;
  const stopSending = sending && askToSend(db, sync, () => sending.register(tag));
  const fetches =
    fetching !== undefined &&
    fetchEveryHours !== undefined &&
    (await isGranted(
      fetching.register(tag, { minInterval: Math.ceil(fetchEveryHours * HOUR_MS) }),
    ));
  // An earlier build of the app, or an earlier call, may have asked for it.
  if (fetchEveryHours === undefined) await fetching?.unregister(tag);
  return {
    sends: sending !== undefined,
    fetches,
    stop: async () => {
      stopSending?.();
      if (fetches) await fetching.unregister(tag);
    },
  };
}

/**
 * Asks whoever leaves the page while writes are unsent whether to stay, in the words of the browser. They are stored and go out at the
 * next visit; asking makes sense where nothing sends them before.
 * @param db asks for its files too
 * @returns what ends it
 * @example
 * const stop = askBeforeLeaving(sync, db);
 * stop();
 */
export function askBeforeLeaving(sync: Sync, db?: Pick<Database, 'files'>): () => void {
  const ask = (event: Event): void => event.preventDefault();
  // Only while it is needed: browsers keep no page for "back" that listens to it.
  const stop = watchUnsent(sync, db?.files, (unsent) => {
    if (unsent > 0) addEventListener('beforeunload', ask);
    else removeEventListener('beforeunload', ask);
  });
  return () => {
    stop();
    removeEventListener('beforeunload', ask);
  };
}

/** @throws UsageError */
async function registered(): Promise<Registration> {
  const container = (navigator as { readonly serviceWorker?: ServiceWorkerContainer })
    .serviceWorker;
  if (!container || !(await container.getRegistration()))
    throw new UsageError(
      'This page has no service worker. Register one first, from a page that is served over https or from localhost.',
    );
  // Installed, as the browser wants it.
  return (await container.ready) as unknown as Registration;
}

/** Once for what is unsent when the hub is out of reach, and once more when the page is hidden: it may be closed next. */
function askToSend({ files }: Database, sync: Sync, register: () => Promise<void>): () => void {
  let unsent = 0;
  let isAsked = false;
  const ask = (): void => {
    isAsked = true;
    // Refused by the user's settings: writes wait for the next visit.
    register().catch(() => undefined);
  };
  const look = (): void => {
    if (unsent === 0) isAsked = false;
    else if (!isAsked && sync.state !== 'live') ask();
  };
  const stop = watchUnsent(sync, files, (count) => {
    unsent = count;
    look();
  });
  const listening = new AbortController();
  sync.addEventListener('state', look, listening);
  document.addEventListener(
    'visibilitychange',
    () => {
      if (document.visibilityState === 'hidden' && unsent > 0) ask();
    },
    listening,
  );
  return () => {
    stop();
    listening.abort();
  };
}

/** Periodic Background Sync is for installed apps: others are refused. */
const isGranted = (asked: Promise<void>): Promise<boolean> =>
  asked.then(
    () => true,
    () => false,
  );
