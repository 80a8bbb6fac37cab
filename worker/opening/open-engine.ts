import { elapsed } from '../../hosts/clock.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { encodeBase64Url } from '../../src/codec/base64.ts';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import type { EngineOptions, LongQueries } from '../../src/engine/host.ts';
import { withLongQueries } from '../../src/engine/with-long-queries.ts';
import type { DetachedOption } from '../../src/engine/transactions.ts';
import type { Settings } from '../../src/host/settings.ts';
import type { Store } from '../../src/store/port.ts';
import { ReplicaView } from '../../src/sync/device/view/replica-view.ts';
import { createAccessTokens } from '../browser/access-tokens.ts';
import { pause } from '../browser/pause.ts';
import { random } from '../browser/random.ts';
import { guardedStore, lockedStore } from '../lock/lock.ts';
import { PasswordPool, startHashingWorker } from '../passwords/passwords.ts';
import type { HostEnvironment } from './find-store.ts';
import type { JoinedTabs, TabsHandlers } from './join-tabs.ts';

export interface EngineParts
  extends TabsHandlers, DetachedOption, Pick<HostEnvironment, 'startHashing'> {
  readonly store: Store;
  readonly isLocked: boolean;
  readonly settings: Settings;
  readonly rootSecret: EngineOptions['rootSecret'];
  readonly joined: Pick<JoinedTabs, 'lease'>;
  readonly clock: () => number;
  readonly longQueries?: LongQueries | undefined;
}

/** The engine over the data stored on this device. */
export interface OpenEngine {
  readonly stored: Engine;
  /** The same engine, but it never passes long queries to the second worker. */
  readonly inlineEngine: Engine;
  /** Shows the effects of a copy's pending writes. */
  readonly view: ReplicaView;
  readonly passwords: EngineOptions['passwords'];
  readonly close: () => Promise<void>;
}

export const REGION_GROUP = 'local';
const HASHING_WORKERS_MAX = 2;

export function openEngine(parts: EngineParts): OpenEngine {
  const { store, isLocked, settings, joined, clock, rootSecret, longQueries, detached } = parts;
  const { startHashing: start = startHashingWorker } = parts;
  const { hashCost, audience, durability, ownDocument } = settings;
  const pool = new PasswordPool({ hashCost, start, workersMax: spareCores() });
  const { passwords } = pool;
  const view = new ReplicaView();
  const inlineEngine = createEngine({
    store: isLocked
      ? lockedStore(store)
      : guardedStore(store, (state) =>
          state === 'locked' ? parts.onLock(state) : parts.onDestroyed(),
        ),
    clock,
    elapsed,
    random,
    sha256,
    passwords,
    hashCost,
    accessTokens: createAccessTokens(audience),
    ownDocument,
    durability,
    rootSecret,
    regionGroup: REGION_GROUP,
    pause,
    view,
    ...(joined.lease && { lease: joined.lease }),
    ...(detached && { detached }),
  });
  const stored = longQueries ? withLongQueries(inlineEngine, longQueries, clock) : inlineEngine;
  const close = async (): Promise<void> => {
    // First, so that queries waiting for a hash fail, and closing the engine does not wait for them.
    pool.close();
    await stored.close();
  };
  return { stored, inlineEngine, view, passwords, close };
}

/** When the database is locked, the page's own secret is ignored: otherwise the page could use it to get past the lock. */
export const rootSecretOf = (given: string | undefined, isLocked: boolean): string =>
  (isLocked ? undefined : given) ?? `burrow-root-${encodeBase64Url(random(30))}`;

/** Leaves one core for everything else. */
const spareCores = (): number =>
  Math.min(HASHING_WORKERS_MAX, Math.max(1, (globalThis.navigator?.hardwareConcurrency ?? 2) - 1));
