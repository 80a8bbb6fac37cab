/** Sync: prepares the database to be a copy of a hub's database, if it is one or becomes one. */
import { elapsed } from '../../hosts/clock.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Engine } from '../../src/engine/engine.ts';
import type { Settings } from '../../src/host/settings.ts';
import type { SyncMessage } from '../../src/host/sync.ts';
import type { Store } from '../../src/store/port.ts';
import type { LongQueries } from '../../src/engine/host.ts';
import { Replica } from '../../src/sync/device/replica/replica.ts';
import { browserNetwork } from '../browser/network.ts';
import { random } from '../browser/random.ts';
import { Files } from '../files/files.ts';
import { browserFiles } from '../files/idb-files.ts';
import type { LoginHost } from '../lock/unlock.ts';
import { SyncSession } from '../sync/session.ts';
import { syncedEngine } from '../sync/synced-engine.ts';
import { browserVault } from '../sync/token-vault.ts';
import { isLoginOfCopy } from '../sync/unlock-copy.ts';
import { OfflineLogin } from '../sync/verifier.ts';
import type { JoinedTabs } from './join-tabs.ts';
import type { HostEnvironment } from './find-store.ts';
import type { OpenEngine } from './open-engine.ts';

export interface CopyParts extends Pick<HostEnvironment, 'network' | 'vault' | 'files'> {
  readonly name: string;
  readonly store: Store;
  readonly isLocked: boolean;
  readonly settings: Settings;
  /** The secret that clients of the synced identity use. Undefined: a new one is generated. */
  readonly syncSecret: string | undefined;
  readonly local: OpenEngine;
  readonly longQueries: LongQueries | undefined;
  readonly joined: JoinedTabs;
  readonly clock: () => number;
  readonly emit: (message: SyncMessage) => void;
  readonly report: (reason: unknown) => void;
}

export interface OpenCopy extends Pick<Replica, 'read'> {
  /** Also accepts queries of the synced identity. */
  readonly engine: Engine;
  readonly sync: SyncSession;
  readonly isLoginOfCopy: LoginHost['isLoginOfCopy'];
}

export function openCopy(parts: CopyParts): OpenCopy {
  const { name, store, isLocked, settings, syncSecret, local, joined, clock, emit, report } = parts;
  const { longQueries, network = browserNetwork, vault = browserVault } = parts;
  const { files = browserFiles } = parts;
  const { stored, view, passwords } = local;
  const replica: Replica = new Replica({
    engine: stored,
    view,
    clock,
    random,
    sha256,
    ...(longQueries && { longQueries }),
    onSubmitted: (write) => sync.onWrite(write),
  });
  const offlineLogin = new OfflineLogin({
    store,
    transactions: stored.transactions,
    clock,
    elapsed,
    ...passwords,
  });
  const sync = new SyncSession({
    name,
    locks: joined.locks,
    replica,
    engine: stored,
    offlineLogin,
    tabs: joined.tabs,
    network,
    vault,
    clock,
    secret: isLocked ? undefined : syncSecret,
    durability: settings.durability,
    files: (session) =>
      new Files({
        ...session,
        name,
        locks: joined.locks,
        store: files.openFiles(name),
        database: store,
        sha256,
        nowMs: () => clock() / 1000,
        report,
      }),
    emit,
    report,
  });
  joined.listenToSync((message) => sync.shared.onMessage(message));
  const login = {
    name,
    replica,
    offlineLogin,
    login: sync.login,
    vault,
    onLogin: () => sync.shared.onLogin(),
  };
  return {
    engine: syncedEngine(stored, sync, replica),
    read: (request) => replica.read(request),
    sync,
    isLoginOfCopy: (call) => isLoginOfCopy(login, call),
  };
}
