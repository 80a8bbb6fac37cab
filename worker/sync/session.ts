/** Sync in one tab: requests of the page, messages between tabs, and the states of writes. */
import type { CommitNotice, QueryAnswer, QueryRequest } from '../../src/engine/host.ts';
import { hexOfBytes } from '../../src/codec/hex.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Refusal } from '../../src/errors.ts';
import { errorOf } from '../../src/http/answer-query.ts';
import type {
  JudgedData,
  SubmitReply,
  SyncCall,
  SyncMessage,
  SyncReply,
  SyncWait,
  WriteChoice,
  WriteData,
} from '../../src/host/sync.ts';
import type { SyncState, WriteState } from '../../src/states.ts';
import type { Replica, SubmitRequest } from '../../src/sync/device/replica/replica.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import type { Network } from '../browser/network.ts';
import { fileRequests } from './file-requests.ts';
import type { Files, FilesOptions } from '../files/files.ts';
import { random } from '../browser/random.ts';
import type { Abortable } from '../queries/abortable-calls.ts';
import { queryReply } from '../queries/replies.ts';
import type { SyncTabMessage, Tabs } from '../tabs/tabs.ts';
import { lockManager } from '../tabs/web-locks.ts';
import { judgedData, progressData, writeData } from './session-data.ts';
import { askHub, openLive, type TimedQuery } from './hub-queries.ts';
import { Leader } from './leader.ts';
import { Leadership } from './leadership.ts';
import { CopyLogin } from './login.ts';
import { forgetKept, OutboxFile, readKept, type KeptWrite } from './outbox-file.ts';
import type { TokenVault } from './token-vault.ts';
import type { OfflineLogin } from './verifier.ts';
import { Waits } from './waits.ts';

export interface SyncSessionOptions {
  readonly name: string;
  readonly replica: Replica;
  readonly engine: Pick<Engine, 'query' | 'authenticate'>;
  readonly offlineLogin: OfflineLogin;
  readonly tabs: Tabs;
  readonly network: Network;
  readonly vault: TokenVault;
  readonly clock: () => number;
  /** Secret of the clients of the synced identity; made when it is left out. */
  readonly secret: string | undefined;
  readonly tell: (message: SyncMessage) => void;
  readonly report: (reason: unknown) => void;
  readonly durability: 'strict' | 'relaxed';
  readonly files: (parts: SessionOfFiles) => Files;
}

/** What files need of the sync of their database. */
export type SessionOfFiles = Pick<
  FilesOptions,
  'transport' | 'epoch' | 'isSyncing' | 'isInContact' | 'judged' | 'tell' | 'askToSend'
>;

const API_VERSION = '4';

export class SyncSession {
  /** Secret of a client of the synced identity. */
  readonly secret: string;
  readonly login: CopyLogin;
  readonly files: Files;
  private readonly options: SyncSessionOptions;
  private readonly waits: Waits;
  private url = '';
  private leadership: Leadership | undefined = undefined;
  private readonly leader: Leader;
  private file: Promise<OutboxFile | undefined> | undefined = undefined;
  private state: SyncState = 'connecting';
  private reason: string | undefined = undefined;

  constructor(options: SyncSessionOptions) {
    this.options = options;
    this.secret = options.secret ?? `burrow-sync-${hexOfBytes(random(24))}`;
    this.login = new CopyLogin(options);
    this.leader = this.makeLeader();
    this.files = options.files(this.forFiles());
    // The token is gone: the next exchange finds out, and reports it.
    options.network.onChange((change) => this.noteNetwork(change));
    this.waits = new Waits({
      replica: options.replica,
      tell: (write) => options.tell({ type: 'sync-verdict', write }),
      kick: () => this.kick(),
      report: options.report,
    });
  }

  // --- requests of the page -----------------------------------------------------------------------

  async start(call: SyncCall): Promise<SyncReply> {
    const { replica } = this.options;
    const url = call.url.replace(/\/+$/, '');
    const known = await replica.state();
    if (known && known.hub !== url) throw otherHub(known.hub);
    this.url = url;
    const failed = await this.login.logIn(url, call, known);
    if (failed) return { secret: '', state: 'needs-login', failed, missing: 0 };
    const state = known ?? (await this.login.adopt(url));
    const missing = await this.takeUp(state);
    await replica.setSets(call.sets.map((query) => ({ id: query, query })));
    const { tabs } = this.options;
    // Another tab may lead: it still uses the former token.
    const isNew = call.secret !== undefined || call.login !== undefined;
    if (isNew) tabs.tell({ type: 'sync-login' });
    // A refusal of the former token says nothing of this one.
    if (isNew && (this.state === 'needs-login' || this.state === 'locked'))
      this.take({ type: 'sync-state', state: 'connecting', reason: undefined });
    this.join();
    if (state.schema === undefined) await this.waits.forSchema();
    return { secret: this.secret, state: this.state, failed: undefined, missing };
  }

  /**
   * Goes on where a page stopped, with its token and its sets.
   * @returns false when there is nothing to go on with: no copy, or nobody who is logged in
   */
  async resume(): Promise<boolean> {
    const known = await this.options.replica.state();
    if (!known) return false;
    await this.login.reload();
    if (this.login.token === undefined) return false;
    this.url = known.hub;
    this.join();
    return true;
  }

  async submit(
    call: TimedQuery & Pick<SubmitRequest, 'note'>,
    { isAbandoned }: Partial<Abortable> = {},
    replaces?: string,
  ): Promise<SubmitReply> {
    const request: SubmitRequest = {
      query: call.query,
      apiVersion: API_VERSION,
      ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
      ...(isAbandoned && { isAbandoned }),
      ...(replaces !== undefined && { replaces }),
      note: call.note,
    };
    const done = await this.options.replica.submit(request);
    if ('failed' in done) return { id: undefined, answer: queryReply(done.failed) };
    const { id, answer } = done;
    this.waits.expect(id);
    return { id, answer: answer && queryReply(answer) };
  }

  async wait({ for: what, set }: SyncWait): Promise<void> {
    await (what === 'settled' ? this.waits.forSettled() : this.waits.forSynced(set));
  }

  async writes(states: readonly WriteState[] | undefined): Promise<readonly WriteData[]> {
    return (await this.options.replica.writes(states)).map(writeData);
  }

  async verdict(id: string): Promise<JudgedData | undefined> {
    // Before it is looked at: a verdict that comes meanwhile is told.
    this.waits.expect(id);
    const [record] = await this.options.replica.writesById([id]);
    if (record) return judgedData(record);
    this.waits.forget(id);
    throw noWrite(id);
  }

  async resolveWrite(id: string, choice: WriteChoice): Promise<SubmitReply | undefined> {
    const { replica } = this.options;
    if ('discard' in choice) {
      await replica.discard(id);
      return undefined;
    }
    const [record] = await replica.writesById([id]);
    if (!record) throw noWrite(id);
    if (record.state !== 'refused')
      throw new Refusal(
        'bad request',
        `The write ${id} was not refused, so there is nothing to resolve.`,
      );
    const query = 'edit' in choice ? choice.edit : record.item.query;
    return this.submit({ query, note: record.note }, {}, id);
  }

  /** Rejects everything that waits, with the reason. */
  failWaits(reason: Refusal): void {
    this.waits.fail(reason);
    this.files.failWaits(reason);
  }

  /** Takes part in the election of the tab that syncs, and hears what that one knows. */
  private join(): void {
    this.options.tabs.tell({ type: 'sync-ask' });
    this.leadership ??= this.makeLeadership();
    this.kick();
  }

  /** Stops the exchange with the hub; stored documents can still be read and written. */
  async stop(): Promise<void> {
    const { leadership } = this;
    this.failWaits(new Refusal('connection_needed', 'Sync was stopped.'));
    this.leadership = undefined;
    leadership?.close();
    await this.leader.end();
    this.state = 'offline';
    this.reason = 'Sync was stopped.';
    (await this.file)?.close();
    this.file = undefined;
  }

  async unsent(): Promise<number> {
    const { replica, name } = this.options;
    const state = await replica.state();
    // A browser that lost the database may still have the second copy of unsent writes.
    const writes = state ? state.lastSeq - state.settledSeq : (await readKept(name)).length;
    return writes + (await this.files.unsent());
  }

  /** For who looks into the database. `copy` undefined: it is no copy of a hub's. */
  async overview(): Promise<{
    readonly state: SyncState;
    readonly reason: string | undefined;
    readonly copy: ReplicaState | undefined;
  }> {
    const copy = await this.options.replica.state();
    return { state: this.state, reason: this.reason, copy };
  }

  get isInContact(): boolean {
    const { leadership, state } = this;
    return leadership !== undefined && (state === 'live' || state === 'catching-up');
  }

  // --- queries of the synced identity -------------------------------------------------------------

  async query(request: QueryRequest): Promise<QueryAnswer> {
    const { replica } = this.options;
    const answer = await (request.allows === 'read'
      ? replica.read(request)
      : replica.query(request));
    const isBeyond = answer.status >= 400 && errorOf(answer).code === 'connection_needed';
    if (!isBeyond || !this.isInContact || request.isAbandoned?.()) return answer;
    return this.ask(request);
  }

  /** Sends a query to the hub. @throws Refusal `connection_needed` */
  ask(request: TimedQuery, signal?: AbortSignal): Promise<QueryAnswer> {
    const { url } = this;
    return askHub({ url, network: this.options.network }, this.login.token, request, signal);
  }

  /** The response to a request for live queries. @throws Refusal `connection_needed` */
  openLive(body: string, signal: AbortSignal): Promise<Response> {
    const { url } = this;
    return openLive({ url, network: this.options.network }, this.login.token, body, signal);
  }

  // --- events -------------------------------------------------------------------------------------

  /** A write of this tab was stored. */
  async noteWrite(write: KeptWrite): Promise<void> {
    this.kick();
    try {
      const file = await this.file;
      file?.keep([write]);
      if (this.options.durability === 'strict') await file?.flushed();
    } catch (reason) {
      // The write itself is stored: only its second copy is missing.
      this.options.report(reason);
    }
  }

  noteCommit(notice: CommitNotice): void {
    if (notice.rows.some(({ space }) => space === 'sync') || notice.previous === notice.ts)
      void this.waits.look();
  }

  hear(message: SyncTabMessage): void {
    switch (message.type) {
      case 'sync-beat':
        this.leadership?.noteBeat();
        return;
      case 'sync-kick':
        this.leader.kick();
        return;
      case 'sync-files':
        if (this.leader.leads) this.files.kick();
        return;
      case 'sync-arrivals':
        this.files.noteArrivals(message.files);
        return;
      case 'sync-login':
        void this.login.reload().then(() => this.leader.kick(), this.options.report);
        return;
      case 'sync-ask':
        if (this.leader.leads)
          this.tellOthers({ type: 'sync-state', state: this.state, reason: this.reason });
        return;
      case 'sync-round':
        this.leadership?.noteBeat();
        this.waits.noteRound(message.since, message.loaded, message.isWhole);
        return;
      case 'sync-told':
        this.take(message.message);
    }
  }

  /** The network is gone: exchanges that wait for an answer are aborted. */
  noteNetwork(change: 'online' | 'offline'): void {
    if (change === 'offline') this.leader.noteOffline();
    else if (this.leader.leads) this.files.kick();
    this.kick();
  }

  /** The network is back, or the page is visible again. */
  kick(): void {
    if (this.leader.leads) this.leader.kick();
    else this.options.tabs.tell({ type: 'sync-kick' });
  }

  private forFiles(): SessionOfFiles {
    const { network, replica, tabs } = this.options;
    return {
      transport: (signal) => {
        const { url } = this;
        const { token } = this.login;
        if (url === '' || token === undefined) return undefined;
        return fileRequests({ url, token, signal, fetch: network.fetch });
      },
      epoch: async () => (await replica.state())?.epoch,
      isSyncing: () => this.leadership !== undefined,
      isInContact: () => this.isInContact,
      judged: () => replica.writes(['confirmed', 'amended']),
      tell: (progress) => this.spread({ type: 'sync-file', progress }),
      askToSend: () => {
        if (this.leader.leads) this.files.kick();
        else tabs.tell({ type: 'sync-files' });
      },
    };
  }

  // --- recovery ----------------------------------------------------------------------------------

  /** Restores the unsent writes of a copy that was lost. Returns how many could not be restored. */
  private async takeUp(state: ReplicaState): Promise<number> {
    if (this.file) return 0;
    const { name, replica } = this.options;
    const kept = (await readKept(name)).filter(({ device }) => device === state.device);
    const missing = await replica.recover(state.device, kept);
    // Their writes are in the store now; files of open tabs stay.
    await forgetKept(name, state.device);
    const tab = hexOfBytes(random(8));
    this.file = OutboxFile.open(name, tab).catch((reason: unknown) => {
      this.options.report(reason);
      return undefined;
    });
    return missing;
  }

  // --- leading ------------------------------------------------------------------------------------

  private makeLeadership(): Leadership {
    const { name, tabs } = this.options;
    return new Leadership({
      name,
      locks: lockManager(),
      lead: () => {
        this.leader.begin();
        this.files.begin().catch(this.options.report);
      },
      follow: () => void this.leader.end(),
      beat: () => tabs.tell({ type: 'sync-beat' }),
    });
  }

  private makeLeader(): Leader {
    const { replica, clock, report, tabs, offlineLogin, network } = this.options;
    return new Leader({
      replica,
      clock,
      report,
      network,
      url: () => this.url,
      token: () => this.login.token,
      onWelcome: ({ passwordSetAt }) => offlineLogin.notePassword(passwordSetAt),
      events: {
        onState: (state, reason) => {
          // The token was revoked: offline login on this device ends too.
          if (state === 'locked') this.login.forget().catch(report);
          if (state === 'live') this.files.kick();
          this.spread({ type: 'sync-state', state, reason: reason?.description });
        },
        onVerdict: (record) => {
          const write = judgedData(record);
          if (!write) return;
          const tell = (): void => this.spread({ type: 'sync-verdict', write });
          // Whoever hears of it finds its files among those that are on their way.
          if (record.verdict?.files) void this.files.noteVerdict(record).catch(report).then(tell);
          else tell();
        },
        onFiles: (files) => {
          this.files.noteArrivals(files);
          tabs.tell({ type: 'sync-arrivals', files });
        },
        onProgress: (progress) =>
          this.spread({ type: 'sync-progress', progress: progressData(progress) }),
        onRound: (since, loaded, isWhole) => {
          this.waits.noteRound(since, loaded, isWhole);
          tabs.tell({ type: 'sync-round', since, loaded, isWhole });
        },
        onSuperseded: () => this.leadership?.giveUp(),
      },
    });
  }

  /** Tells this tab and the others. */
  private spread(message: SyncMessage): void {
    this.tellOthers(message);
    this.take(message);
  }

  private tellOthers(message: SyncMessage): void {
    this.options.tabs.tell({ type: 'sync-told', message });
  }

  private take(message: SyncMessage): void {
    if (message.type === 'sync-state') {
      this.state = message.state;
      this.reason = message.reason;
      if (message.state === 'live') this.files.noteArrivals();
      // Calls that wait for the first contact are rejected with the reason.
      if (message.state !== 'live' && message.reason !== undefined)
        this.waits.failSchema(new Refusal('connection_needed', message.reason));
    }
    if (message.type === 'sync-verdict') {
      this.waits.noteVerdict(message.write);
      void this.cutFile();
    } else this.options.tell(message);
  }

  private async cutFile(): Promise<void> {
    const file = await this.file;
    if (!file) return;
    const state = await this.options.replica.state();
    if (state && state.settledSeq >= state.lastSeq) file.clear();
  }
}

const noWrite = (id: string): Refusal =>
  new Refusal('not found', `There is no write ${id}: it is already resolved.`);

const otherHub = (hub: string): Refusal =>
  new Refusal(
    'forbidden',
    `This database is a copy of the one at ${hub}. For another hub, open a database with another name.`,
  );
