/** Messages between the tabs of one origin about one database. They are only hints: correctness depends on the store alone. */
import type { CommitNotice } from '../../src/engine/host.ts';
import type { SyncMessage } from '../../src/host/sync.ts';

export type TabMessage =
  | { readonly type: 'commit'; readonly notice: CommitNotice }
  /** A tab is opening the database: the tab with the lease releases it. */
  | { readonly type: 'opening' }
  | { readonly type: 'left' }
  /** The database was locked or unlocked. */
  | { readonly type: 'locked' }
  | { readonly type: 'unlocked' }
  /** The database was deleted. */
  | { readonly type: 'destroyed' }
  | SyncTabMessage;

/** Messages between the tabs of one synced copy. */
export type SyncTabMessage =
  /** A tab asks the leader for a heartbeat. */
  | { readonly type: 'sync-check' }
  | { readonly type: 'sync-beat' }
  | { readonly type: 'sync-kick' }
  /** There are files to send. */
  | { readonly type: 'sync-files' }
  /** See `SyncerEvents.onFiles`. */
  | { readonly type: 'sync-arrivals'; readonly files: readonly string[] }
  /** A tab has logged in: the token is in the vault. */
  | { readonly type: 'sync-login' }
  /** A tab asks for the state of sync. */
  | { readonly type: 'sync-ask' }
  /** See `SyncerEvents.onRound`. */
  | {
      readonly type: 'sync-round';
      readonly since: number;
      readonly loaded: readonly string[];
      readonly isWhole: boolean;
    }
  | { readonly type: 'sync-told'; readonly message: SyncMessage };

export class Tabs {
  private channel: BroadcastChannel | undefined;

  /** @param isShared false: there are no other tabs */
  constructor(name: string, onMessage: (message: TabMessage) => void, isShared = true) {
    if (!isShared || typeof BroadcastChannel === 'undefined') return;
    this.channel = new BroadcastChannel(`burrow:${name}`);
    this.channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) =>
      onMessage(data),
    );
  }

  broadcast(message: TabMessage): void {
    this.channel?.postMessage(message);
  }

  close(): void {
    this.channel?.close();
    this.channel = undefined;
  }
}
