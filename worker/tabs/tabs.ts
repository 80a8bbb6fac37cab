/** What the tabs of one origin tell each other about one database. Only hints: correctness rests on the store. */
import type { CommitNotice } from '../../src/engine/host.ts';
import type { SyncMessage } from '../../src/host/sync.ts';

export type TabMessage =
  | { readonly type: 'commit'; readonly notice: CommitNotice }
  /** A tab opens the database: who is alone gives that up. */
  | { readonly type: 'opening' }
  | { readonly type: 'left' }
  /** The lock of the database was turned. */
  | { readonly type: 'locked' }
  | { readonly type: 'unlocked' }
  /** The database was deleted. */
  | { readonly type: 'destroyed' }
  | SyncTabMessage;

/** What the tabs of one copy tell each other. */
export type SyncTabMessage =
  | { readonly type: 'sync-beat' }
  | { readonly type: 'sync-kick' }
  /** Somebody has logged in: the token is in the vault. */
  | { readonly type: 'sync-login' }
  /** A tab wants to know how things stand. */
  | { readonly type: 'sync-ask' }
  /** As `SyncerEvents.onRound`. */
  | {
      readonly type: 'sync-round';
      readonly since: number;
      readonly loaded: readonly string[];
      readonly isWhole: boolean;
    }
  | { readonly type: 'sync-told'; readonly message: SyncMessage };

export class Tabs {
  private readonly channel: BroadcastChannel | undefined;

  constructor(name: string, onMessage: (message: TabMessage) => void) {
    if (typeof BroadcastChannel === 'undefined') return;
    this.channel = new BroadcastChannel(`burrow:${name}`);
    this.channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) =>
      onMessage(data),
    );
  }

  tell(message: TabMessage): void {
    this.channel?.postMessage(message);
  }

  close(): void {
    this.channel?.close();
  }
}
