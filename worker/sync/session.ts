/** Sync in one tab: calls of the page, and queries of the synced identity. */
import type { CommitNotice, QueryAnswer, QueryRequest } from '../../src/engine/host.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { hexOfBytes } from '../../src/codec/hex.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Refusal } from '../../src/errors.ts';
import { errorOf } from '../../src/http/answer-query.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
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
import type { SubmitRequest } from '../../src/sync/device/replica/local-queries.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { KeptWrite } from '../../src/sync/device/state/outbox-record.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import { idOfSet } from '../../src/sync/protocol/sets.ts';
import type { Network } from '../browser/network.ts';
import { fileRequests } from './file-requests.ts';
import type { Files, FilesOptions } from '../files/files.ts';
import { random } from '../browser/random.ts';
import type { Abortable } from '../queries/abortable-calls.ts';
import { queryReply } from '../queries/replies.ts';
import type { Tabs } from '../tabs/tabs.ts';
import { judgedData, writeData } from './session-data.ts';
import { askHub, isRead, openLive, type Hub, type TimedQuery } from './hub-queries.ts';
import { CopyLogin } from './login.ts';
import { readKept } from './outbox-file.ts';
import { readAtHub } from './read-at-hub.ts';
import { SecondCopy } from './second-copy.ts';
import { SharedSync } from './shared-sync.ts';
import type { TokenVault } from './token-vault.ts';
import type { OfflineLogin } from './verifier.ts';
import { SyncWaiters } from './sync-waiters.ts';

export interface SyncSessionOptions {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly replica: Replica;
  readonly engine: Pick<Engine, 'query' | 'authenticate'>;
  readonly offlineLogin: OfflineLogin;
  readonly tabs: Tabs;
  readonly network: Network;
  readonly vault: TokenVault;
  readonly clock: () => number;
  /** Secret of the clients of the synced identity. Undefined: a new one is generated. */
  readonly secret: string | undefined;
  readonly emit: (message: SyncMessage) => void;
  readonly report: (reason: unknown) => void;
  readonly durability: 'strict' | 'relaxed';
  readonly files: (parts: SessionOfFiles) => Files;
}

/** What files need from the sync of their database. */
export type SessionOfFiles = Pick<
  FilesOptions,
  'transport' | 'epoch' | 'isSyncing' | 'isInContact' | 'writes' | 'emit' | 'askToSend'
>;

const API_VERSION = '4';

export class SyncSession {
  /** Secret of the clients of the synced identity. */
  readonly secret: string;
  readonly login: CopyLogin;
  readonly files: Files;
  readonly waiters: SyncWaiters;
  readonly secondCopy: SecondCopy;
  readonly shared: SharedSync;
  /** URL of the hub. */
  url = '';
  private stops = 0;
  private readonly options: SyncSessionOptions;

  constructor(options: SyncSessionOptions) {
    this.options = options;
    this.secret = options.secret ?? `burrow-sync-${hexOfBytes(random(24))}`;
    this.login = new CopyLogin(options);
    this.secondCopy = new SecondCopy(options);
    this.waiters = new SyncWaiters({
      ...options,
      emit: (write) => options.emit({ type: 'sync-verdict', write }),
      kick: () => this.shared.kick(),
    });
    this.shared = new SharedSync(options, this);
    this.files = options.files(this.forFiles());
    options.network.onChange((change) => this.shared.onNetwork(change));
  }

  // --- requests of the page -----------------------------------------------------------------------

  async start(call: SyncCall): Promise<SyncReply> {
    const { replica } = this.options;
    const { stops } = this;
    const sets = [...new Set(call.sets)];
    requireSets(sets);
    const url = call.url.replace(/\/+$/, '');
    const known = await replica.state();
    if (known && known.hub !== url) throw otherHub(known.hub);
    this.url = url;
    const failed = await this.login.logIn(url, call, known);
    if (failed) return { secret: '', state: 'needs-login', failed, missing: 0 };
    // A copy that was adopted but has no schema yet is not usable either: only the hub has the schema.
    const state = known?.schema === undefined ? await this.login.adopt(url, known) : known;
    const missing = await this.secondCopy.recover(state);
    await replica.setSets(sets.map((query) => ({ id: idOfSet(query, sha256), query })));
    if (stops !== this.stops) throw stopped();
    if (call.secret !== undefined || call.login !== undefined) this.shared.onLogin();
    this.shared.join();
    if (state.schema === undefined) await this.waiters.forSchema();
    return { secret: this.secret, state: this.shared.contact.state, failed: undefined, missing };
  }

  /**
   * Continues sync where a page has stopped, with its token and its sets.
   * @returns false when there is nothing to continue: the database is no copy, or no user is logged in
   */
  async resume(): Promise<boolean> {
    const known = await this.options.replica.state();
    if (!known) return false;
    await this.login.reload();
    if (this.login.token === undefined) return false;
    this.url = known.hub;
    this.shared.join();
    return true;
  }

  async submit(
    { query, note }: Pick<SubmitRequest, 'query' | 'note'>,
    { isAbandoned }: Partial<Abortable> = {},
    replaces?: string,
  ): Promise<SubmitReply> {
    const request: SubmitRequest = {
      query,
      apiVersion: API_VERSION,
      ...(isAbandoned && { isAbandoned }),
      ...(replaces !== undefined && { replaces }),
      note,
    };
    const done = await this.options.replica.submit(request);
    if ('failed' in done) return { id: undefined, answer: queryReply(done.failed) };
    const { id, answer } = done;
    this.waiters.expect(id);
    return { id, answer: answer && queryReply(answer) };
  }

  /**
   * @throws Refusal `connection_needed` when sync is stopped during the wait; for `synced` also when it was stopped before, because no
   * round would come. A wait for `settled` then lasts until sync continues
   */
  async wait({ for: what, set }: SyncWait): Promise<void> {
    if (what === 'synced' && this.shared.isStopped) throw stopped();
    await (what === 'settled'
      ? this.waiters.forSettled()
      : this.waiters.forSynced(set && idOfSet(set, sha256)));
  }

  async writes(states: readonly WriteState[] | undefined): Promise<readonly WriteData[]> {
    const all = (await this.options.replica.writes()).map(writeData);
    return states ? all.filter(({ state }) => states.includes(state)) : all;
  }

  async verdict(id: string): Promise<JudgedData | undefined> {
    // Before the write is read, so that a verdict that arrives in between is emitted.
    this.waiters.expect(id);
    const [record] = await this.options.replica.writesById([id]);
    const judged = record && judgedData(record);
    if (judged || !record) this.waiters.forget(id);
    if (!record) throw noWrite(id);
    return judged;
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
    this.waiters.fail(reason);
    this.files.failWaits(reason);
  }

  /**
   * Stops the exchange with the hub, also one that is still starting. Stored documents can still be read and written, so the second copy of
   * unsent writes stays open.
   */
  async stop(): Promise<void> {
    this.stops += 1;
    this.failWaits(stopped());
    await this.shared.leave();
  }

  async unsent(): Promise<number> {
    const { replica, name } = this.options;
    const state = await replica.state();
    // If the browser has lost the database, the second copy of unsent writes may still exist.
    const writes = state ? state.lastSeq - state.settledSeq : (await readKept(name)).length;
    return writes + (await this.files.unsent());
  }

  /** For the inspector. `copy` is undefined when the database is not a copy of a hub's database. */
  async overview(): Promise<{
    readonly state: SyncState;
    readonly reason: string | undefined;
    readonly copy: ReplicaState | undefined;
  }> {
    const copy = await this.options.replica.state();
    const { state, reason } = this.shared.contact;
    return { state, reason, copy };
  }

  get isInContact(): boolean {
    const { contact, isJoined } = this.shared;
    const { state } = contact;
    return isJoined && (state === 'live' || state === 'catching-up');
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

  /** Sends a query to the hub. @throws Refusal as described at `unanswered` */
  ask(request: TimedQuery, signal?: AbortSignal): Promise<QueryAnswer> {
    if (request.allows === 'read' && !isRead(request.query))
      return readAtHub((_, body, ended) => this.openLive(body, ended), request, signal);
    return askHub(this.hub, this.login.token, request, signal);
  }

  /** Resolves to the response to a request for live queries. @throws Refusal `hub_unreachable` */
  openLive(body: string, signal: AbortSignal): Promise<Response> {
    return openLive(this.hub, this.login.token, body, signal);
  }

  private get hub(): Hub {
    return { url: this.url, network: this.options.network };
  }

  // --- events -------------------------------------------------------------------------------------

  /** Called when a write of this tab was stored. */
  async onWrite(write: KeptWrite): Promise<void> {
    this.shared.kick();
    await this.secondCopy.keep(write);
  }

  onCommit(notice: CommitNotice): void {
    if (notice.rows.some(({ space }) => space === 'sync') || notice.previous === notice.ts)
      void this.waiters.check();
  }

  private forFiles(): SessionOfFiles {
    const { network, replica } = this.options;
    return {
      transport: (signal) => {
        const { url } = this;
        const { token } = this.login;
        if (url === '' || token === undefined) return undefined;
        return fileRequests({ url, token, signal, fetch: network.fetch });
      },
      epoch: async () => (await replica.state())?.epoch,
      isSyncing: () => this.shared.isJoined,
      isInContact: () => this.isInContact,
      writes: () => replica.writes(),
      emit: (progress) => this.shared.publish({ type: 'sync-file', progress }),
      askToSend: () => this.shared.kickFiles(),
    };
  }
}

/** @throws Refusal `limit_exceeded`; the hub would accept none of the sets */
function requireSets(sets: readonly string[]): void {
  if (sets.length <= SYNC_LIMITS.sets && sets.every(({ length }) => length <= SYNC_LIMITS.setChars))
    return;
  throw new Refusal(
    'limit_exceeded',
    `A copy may have ${SYNC_LIMITS.sets} sets, each of up to ${SYNC_LIMITS.setChars} characters: combine some with \`Union()\`.`,
  );
}

const stopped = (): Refusal => new Refusal('connection_needed', 'Sync was stopped.');

const noWrite = (id: string): Refusal =>
  new Refusal('not found', `There is no write ${id}, or it is already resolved.`);

const otherHub = (hub: string): Refusal =>
  new Refusal(
    'forbidden',
    `This database is a copy of the one at ${hub}. For another hub, open a database with another name.`,
  );
