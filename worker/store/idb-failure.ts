/** Errors of IndexedDB, and the refusals that callers get for them. */
import { Refusal } from '../../src/errors.ts';
import { KeyTaken } from '../../src/store/port.ts';

/** Errors that a dead connection causes: in WebKit after the device wakes up (dexie #2296), in Chromium after a forced close. */
const LOSSES: ReadonlySet<string> = new Set([
  'InvalidStateError',
  'UnknownError',
  'AbortError',
  'TransactionInactiveError',
]);

/** The transaction itself failed; its body did not throw. */
export class TransactionFailure extends Error {
  readonly reason: unknown;
  /** False: nothing was written. True: the commit had been requested, and may have succeeded. */
  readonly mayBeCommitted: boolean;

  constructor(reason: unknown, mayBeCommitted: boolean) {
    super('An IndexedDB transaction failed.', { cause: reason });
    this.reason = reason;
    this.mayBeCommitted = mayBeCommitted;
  }

  /** The transaction may succeed if it is retried on a new connection. */
  get isConnectionLoss(): boolean {
    return LOSSES.has(nameOf(this.reason));
  }
}

/** The error that a caller gets: our own errors unchanged, errors of the browser as a refusal. */
export function thrownFor(thrown: unknown): unknown {
  if (!(thrown instanceof TransactionFailure)) return thrown;
  const { reason } = thrown;
  // No index is unique, so only a primary key can violate a constraint.
  if (nameOf(reason) === 'ConstraintError') return new KeyTaken({ cause: reason });
  return reason instanceof DOMException || !(reason instanceof Error) ? refusalOf(reason) : reason;
}

export function refusalOf(reason: unknown): Refusal {
  if (reason instanceof Refusal) return reason;
  const cause = { cause: reason };
  switch (nameOf(reason)) {
    case 'QuotaExceededError':
      return new Refusal(
        'quota_exceeded',
        'The storage quota of this site is exceeded. Nothing was written. Delete exports or logs, or ask the user for more storage.',
        cause,
      );
    case 'VersionError':
      return newerDatabase(cause);
    case 'MissingAPIError':
      return new Refusal('storage_unavailable', 'IndexedDB is not available here.', cause);
    default:
      return new Refusal(
        'storage_unavailable',
        `The browser's storage failed (${nameOf(reason)}). Nothing was written. Free space if the disk is full, and try again; if it keeps failing, reload the page.`,
        cause,
      );
  }
}

const blocked = (what: string): Refusal =>
  new Refusal(
    'storage_blocked',
    `${what} Close the other tabs of this app and try again. If it stays blocked, close this tab too and open the app again.`,
  );

export const blockedByOthers = (): Refusal =>
  blocked('Another tab has blocked the database for too long. Nothing was read or written.');

export const blockedOpening = (): Refusal =>
  blocked('The database can be neither opened nor deleted because another tab blocks it.');

export const newerDatabase = (options?: ErrorOptions): Refusal =>
  new Refusal(
    'storage_unavailable',
    'This database was created or upgraded by a newer version of the app. Reload the page or update the app.',
    options,
  );

/** The browser's own error when a database failed to open. Dexie wraps it. */
export function unwrapDexieError(reason: unknown): unknown {
  const isWrapped = typeof reason === 'object' && reason !== null && 'inner' in reason;
  return isWrapped && reason.inner instanceof DOMException ? reason.inner : reason;
}

function nameOf(reason: unknown): string {
  if (typeof reason !== 'object' || reason === null) return typeof reason;
  return 'name' in reason && typeof reason.name === 'string' ? reason.name : 'an unnamed error';
}

export const noResponse = (mayBeCommitted: boolean): Refusal =>
  new Refusal(
    'storage_unavailable',
    mayBeCommitted
      ? "The browser's storage did not confirm the write, so it may or may not be stored. Check before you write it again."
      : "The browser's storage does not respond. Nothing was written. Try again; if it keeps failing, reload the page.",
  );
