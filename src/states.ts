/** States that several rooms speak of and that cross the worker: each is listed once, here. */

/** Of a write without a verdict. `local`: made here; `parked`: waits for a login. */
export type PendingState = 'local' | 'parked';

/**
 * What the hub made of a write.
 * - `confirmed`: it did what the device showed.
 * - `amended`: it was made, with another result or other effects than the device showed.
 * - `refused`: it failed, and did nothing.
 */
export type VerdictState = 'confirmed' | 'amended' | 'refused';

export type WriteState = PendingState | VerdictState;

/**
 * Of a copy of a hub's database.
 * - `connecting`: connecting to the hub.
 * - `catching-up`: fetching changes.
 * - `live`: up to date with the hub.
 * - `offline`: the hub cannot be reached; retried by itself.
 * - `needs-login`: the token has expired; writes wait.
 * - `locked`: the hub has revoked the token, or the person has signed out; nothing is shown.
 */
export type SyncState =
  | 'connecting'
  | 'catching-up'
  | 'live'
  | 'offline'
  | 'needs-login'
  | 'locked';

/**
 * How long the browser means to keep what is stored.
 * - `persistent`: until the user deletes it.
 * - `best-effort`: until it needs the space, or the site was not used for long.
 * - `session`: a private window: until it is closed.
 * - `unknown`: the browser has no `navigator.storage` to ask; it may be a private window.
 * - `none`: nothing can be stored.
 */
export type Persistence = 'persistent' | 'best-effort' | 'session' | 'unknown' | 'none';
