/** States that several parts of the code use and that are sent between page and worker. Each is listed only here. */

/** State of a write without a verdict. `local`: made on this device. `parked`: waits for a login. */
export type PendingState = 'local' | 'parked';

/**
 * The hub's verdict on a write.
 * - `confirmed`: the write had the result that the device showed.
 * - `amended`: the write was executed, with another result or other effects than the device showed.
 * - `refused`: the write failed and had no effect.
 */
export type VerdictState = 'confirmed' | 'amended' | 'refused';

export type WriteState = PendingState | VerdictState;

/**
 * State of a copy of a hub's database.
 * - `connecting`: connecting to the hub.
 * - `catching-up`: fetching changes.
 * - `live`: up to date with the hub.
 * - `offline`: the hub cannot be reached; the copy retries by itself.
 * - `needs-login`: the token has expired; writes wait.
 * - `locked`: the hub has revoked the token, or the user has signed out; no data is shown.
 */
export type SyncState =
  | 'connecting'
  | 'catching-up'
  | 'live'
  | 'offline'
  | 'needs-login'
  | 'locked';

/**
 * How long the browser will keep the stored data.
 * - `persistent`: until the user deletes it.
 * - `best-effort`: until the browser needs the space, or the site was not used for long.
 * - `session`: until the private window is closed.
 * - `unknown`: the browser has no `navigator.storage` to ask; it may be a private window.
 * - `none`: nothing can be stored.
 */
export type Persistence = 'persistent' | 'best-effort' | 'session' | 'unknown' | 'none';
