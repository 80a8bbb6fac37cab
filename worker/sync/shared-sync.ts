/** Sync as shared by the tabs of a copy: one tab leads and exchanges messages with the hub; all tabs receive what it broadcasts. */
import { Refusal } from '../../src/errors.ts';
import type { SyncMessage } from '../../src/host/sync.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { SyncerEvents } from '../../src/sync/device/syncer/syncer-options.ts';
import type { Network } from '../browser/network.ts';
import type { Files } from '../files/files.ts';
import type { SyncTabMessage, Tabs } from '../tabs/tabs.ts';
import { notAnswered } from './hub-queries.ts';
import { Leader } from './leader.ts';
import { Leadership } from './leadership.ts';
import type { CopyLogin } from './login.ts';
import type { SecondCopy } from './second-copy.ts';
import { judgedData, progressData } from './session-data.ts';
import type { OfflineLogin } from './verifier.ts';
import type { SyncWaiters } from './sync-waiters.ts';

export interface SharedSyncOptions {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly replica: Replica;
  readonly offlineLogin: OfflineLogin;
  readonly tabs: Tabs;
  readonly network: Network;
  readonly clock: () => number;
  readonly emit: (message: SyncMessage) => void;
  readonly report: (reason: unknown) => void;
}

/** The session of this tab. */
export interface SessionOfTab {
  readonly url: string;
  readonly login: CopyLogin;
  readonly waiters: SyncWaiters;
  readonly secondCopy: SecondCopy;
  readonly files: Files;
}

/** The state of sync, as last broadcast by the leading tab. */
type Contact = Extract<SyncMessage, { readonly type: 'sync-state' }>;

const CONNECTING: Contact = { type: 'sync-state', state: 'connecting', reason: undefined };
const STOPPED: Contact = { type: 'sync-state', state: 'offline', reason: 'Sync was stopped.' };

export class SharedSync {
  contact: Contact = CONNECTING;
  private readonly options: SharedSyncOptions;
  private readonly session: SessionOfTab;
  private readonly leader: Leader;
  private leadership: Leadership | undefined = undefined;
  /** The last token that the hub has refused. */
  private refused: string | undefined = undefined;

  constructor(options: SharedSyncOptions, session: SessionOfTab) {
    this.options = options;
    this.session = session;
    this.leader = new Leader({
      ...options,
      url: () => session.url,
      token: () => session.login.token,
      onRefused: (token) => {
        this.refused = token;
      },
      onWelcome: ({ passwordSetAt }) => options.offlineLogin.onPassword(passwordSetAt),
      events: this.events(),
    });
  }

  get isJoined(): boolean {
    return this.leadership !== undefined;
  }

  /** Sync was stopped in this tab, and no other tab has broadcast its state since. */
  get isStopped(): boolean {
    return this.contact === STOPPED;
  }

  /** Takes part in the election of the tab that syncs, and requests the current state from the leader. */
  join(): void {
    const { name, locks, tabs, report } = this.options;
    tabs.broadcast({ type: 'sync-ask' });
    if (this.contact === STOPPED) this.contact = CONNECTING;
    this.leadership ??= new Leadership({
      name,
      locks,
      lead: () => {
        this.leader.begin();
        this.session.files.uploads.takeOver().catch(report);
      },
      follow: () => void this.leader.end(),
      check: () => tabs.broadcast({ type: 'sync-check' }),
      beat: () => tabs.broadcast({ type: 'sync-beat' }),
    });
    this.kick();
  }

  async leave(): Promise<void> {
    const { leadership } = this;
    this.leadership = undefined;
    leadership?.close();
    await this.leader.end();
    this.contact = STOPPED;
  }

  /** Called when this tab has logged in. Another tab may lead, which still uses the former token. */
  onLogin(): void {
    this.options.tabs.broadcast({ type: 'sync-login' });
    // A refusal of the former token does not apply to the new one.
    const { state } = this.contact;
    if (state === 'needs-login' || state === 'locked') this.apply(CONNECTING);
    this.kick();
  }

  /** When the network is gone, the WebSocket is closed, so that requests waiting on it fail. */
  onNetwork(change: 'online' | 'offline'): void {
    if (change === 'offline') this.leader.onOffline();
    else this.sendFiles();
    this.kick();
  }

  /** Called when there is something to send, the network is back, or the page is visible again. */
  kick(): void {
    if (this.leader.leads) this.leader.kick();
    else this.options.tabs.broadcast({ type: 'sync-kick' });
  }

  /** Called when there are files to send. */
  kickFiles(): void {
    if (this.leader.leads) this.sendFiles();
    else this.options.tabs.broadcast({ type: 'sync-files' });
  }

  /** Handles a message of another tab. */
  onMessage(message: SyncTabMessage): void {
    const { files, login, waiters } = this.session;
    switch (message.type) {
      case 'sync-check':
        this.leadership?.onCheck();
        return;
      case 'sync-beat':
        this.leadership?.onBeat();
        return;
      case 'sync-kick':
        this.leader.kick();
        return;
      case 'sync-files':
        this.sendFiles();
        return;
      case 'sync-arrivals':
        files.onArrivals(message.files);
        return;
      case 'sync-login':
        void login.reload().then(() => this.leader.kick(), this.options.report);
        return;
      case 'sync-ask':
        if (this.leader.leads) this.broadcast(this.contact);
        return;
      case 'sync-round':
        this.leadership?.onBeat();
        waiters.onRound(message.since, message.loaded, message.isWhole);
        return;
      case 'sync-told':
        this.apply(message.message);
    }
  }

  /** Sends the message to this tab and the others. */
  publish(message: SyncMessage): void {
    this.broadcast(message);
    this.apply(message);
  }

  private broadcast(message: SyncMessage): void {
    this.options.tabs.broadcast({ type: 'sync-told', message });
  }

  private apply(message: SyncMessage): void {
    const { files, secondCopy, waiters } = this.session;
    const { report } = this.options;
    if (message.type === 'sync-state' || message.type === 'sync-verdict')
      secondCopy.reconcile().catch(report);
    if (message.type === 'sync-state') {
      this.contact = message;
      if (message.state === 'live') files.onArrivals();
      // Calls that wait for the first contact are rejected with the reason.
      const { state, reason } = message;
      if (reason !== undefined || state === 'offline')
        waiters.failSchema(
          reason === undefined ? notAnswered() : new Refusal('connection_needed', reason),
        );
    }
    if (message.type === 'sync-verdict') waiters.onVerdict(message.write);
    else this.options.emit(message);
  }

  private sendFiles(): void {
    if (this.leader.leads) this.session.files.uploads.kick();
  }

  /** How the leading tab handles the events of the syncer. */
  private events(): Omit<SyncerEvents, 'onFault'> {
    const { session } = this;
    const { report, tabs } = this.options;
    return {
      onState: (state, reason) => {
        // The token was revoked: offline login on this device ends too.
        if (state === 'locked') session.login.forget(this.refused).catch(report);
        if (state === 'live') session.files.uploads.kick();
        this.publish({ type: 'sync-state', state, reason: reason?.description });
      },
      onVerdict: (record) => {
        const write = judgedData(record);
        if (!write) return;
        const emit = (): void => this.publish({ type: 'sync-verdict', write });
        // The files are registered first, so that the receiver of the verdict finds them among the unsent files.
        if (record.verdict?.files)
          void session.files.uploads.onVerdict(record).catch(report).then(emit);
        else emit();
      },
      onFiles: (files) => {
        session.files.onArrivals(files);
        tabs.broadcast({ type: 'sync-arrivals', files });
      },
      onProgress: (progress) =>
        this.publish({ type: 'sync-progress', progress: progressData(progress) }),
      onRound: (since, loaded, isWhole) => {
        session.waiters.onRound(since, loaded, isWhole);
        tabs.broadcast({ type: 'sync-round', since, loaded, isWhole });
      },
      onSuperseded: () => this.leadership?.giveUp(),
    };
  }
}
