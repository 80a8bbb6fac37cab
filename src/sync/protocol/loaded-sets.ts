/** How much of a set a device holds. */
import type { SetAnswer } from './sets.ts';

/** Position in each part, `undefined` (in JSON `null`) when the part is complete; `nothing` before the hub resolved the set. */
type Loaded = SetAnswer['loaded'] | 'nothing';

/** Whether the device holds all of a set, or is to hold nothing of it. */
export const isLoaded = ({
  loaded,
  error,
}: {
  readonly loaded: Loaded;
  readonly error: SetAnswer['error'];
}): boolean =>
  (error ?? undefined) !== undefined ||
  (loaded !== 'nothing' && loaded.every((position) => (position ?? undefined) === undefined));
