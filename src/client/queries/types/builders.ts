/** Types of all builders, and of the client methods that run a builder at once. */
import type { Basic } from './basic.ts';
import type { Collections } from './collections.ts';
import type { Mode } from './returns.ts';
import type { Scalars } from './scalars.ts';
import type { Identities, Reading, Refs, Sets, Writing } from './storage.ts';

type All<M extends Mode> = Basic<M> &
  Collections<M> &
  Scalars<M> &
  Reading<M> &
  Writing<M> &
  Sets<M> &
  Identities<M> &
  Refs<M>;

export type Builders = All<'build'>;

/** Called on a client, a builder runs at once: `client.Get(ref)` is `client.query(q.Get(ref))`. */
export type DirectCalls = All<'run'>;
