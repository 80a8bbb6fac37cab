/**
 * `burrowdb/background`: with Background Sync, syncs while no page of the app is open. In browsers without it, asks users with unsent
 * writes whether they really want to leave the page.
 */
import { UsageError, type Database, type Sync } from '../index.ts';
import { backgroundTag } from '../host/background.ts';
import { watchUnsent } from './unsent.ts';

export interface BackgroundOptions {
  /**
   * Interval at which changes are fetched while the app is closed, in hours. The browser decides when, and only does it for installed apps.
   * Left out: the background sync only sends.
   */
  readonly fetchEveryHours?: number;
}

export interface BackgroundSync {
  /** Whether unsent writes and files are sent when the device has a network again, even after the last page was closed. */
  readonly sends: boolean;
  /** Whether changes are fetched from time to time. */
  readonly fetches: boolean;
  /** Ends background sync: from then on, only open pages send and fetch. */
  readonly stop: () => Promise<void>;
}

/** Members of a service worker's registration that only some browsers have. */
interface Registration {
  readonly sync?: { register(tag: string): Promise<void> };
  readonly periodicSync?: {
    register(tag: string, options: { readonly minInterval: number }): Promise<void>;
    unregister(tag: string): Promise<void>;
  };
}

const HOUR_MS = 3_600_000;

/**
 * Lets the app's service worker continue the sync of a database when no page is open. The service worker must import the engine: see
 * docs/sync.md. Firefox and Safari have no Background Sync: there, `sends` is false, and writes wait for the next visit.
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
  // To the browser, an interval of infinity is one of 0.
  const isNumber = Number.isFinite(fetchEveryHours) && Number(fetchEveryHours) > 0;
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
    (await isAuthorized(
      fetching.register(tag, { minInterval: Math.ceil(fetchEveryHours * HOUR_MS) }),
    ));
  // An earlier call, or an earlier build of the app, may have registered for it.
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
 * Asks users who leave the page with unsent writes whether to stay, with the browser's own dialog. The writes are stored and would be sent
 * at the next visit, so asking makes sense where nothing sends them before.
 * @param db if given, unsent files of this database count too
 * @returns a function that ends this
 * @example
 * const stop = askBeforeLeaving(sync, db);
 * stop();
 */
export function askBeforeLeaving(sync: Sync, db?: Pick<Database, 'files'>): () => void {
  const ask = (event: Event): void => event.preventDefault();
  // The listener is registered only while it is needed: browsers do not keep pages with it in the back/forward cache.
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
  // Waits until the service worker is installed, which the browser requires for a registration.
  return (await container.ready) as unknown as Registration;
}

/**
 * Registers when there are unsent writes and the hub cannot be reached, and again when the page is hidden, because it may be closed next.
 */
function askToSend({ files }: Database, sync: Sync, register: () => Promise<void>): () => void {
  let unsent = 0;
  let isAsked = false;
  const ask = (): void => {
    isAsked = true;
    // If the user's settings forbid it, writes wait for the next visit.
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

/** Periodic Background Sync is only granted to installed apps. */
const isAuthorized = (asked: Promise<void>): Promise<boolean> =>
  asked.then(
    () => true,
    () => false,
  );
