/** How much of a set a device has loaded. */
import type { SetAnswer } from './sets.ts';

/** Position in each part; `undefined` (in JSON `null`) if the part is complete. `nothing` until the hub has resolved the set. */
type Loaded = SetAnswer['loaded'] | 'nothing';

/** Whether the device has all of a set. Also true for a set with an error, of which the device must keep nothing. */
export const isLoaded = ({
  loaded,
  error,
}: {
  readonly loaded: Loaded;
  readonly error: SetAnswer['error'];
}): boolean =>
  (error ?? undefined) !== undefined ||
  (loaded !== 'nothing' && loaded.every((position) => (position ?? undefined) === undefined));
