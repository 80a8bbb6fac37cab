/** The owner of the copy: logins at the hub and, offline, on this device; the token; the first contact with the hub. */
import { hexOfBytes } from '../../src/codec/hex.ts';
import { Refusal } from '../../src/errors.ts';
import { loginFailed } from '../../src/fault-texts.ts';
import type { SyncCall, SyncReply } from '../../src/host/sync.ts';
import { isSameText } from '../../src/engine/access.ts';
import { errorBody } from '../../src/engine/session.ts';
import { isSameIdentity } from '../../src/sync/device/view/impersonation.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import { ForeignAnswer } from '../../src/sync/device/syncer/transport.ts';
import { SYNC_PROTOCOL, type Welcome } from '../../src/sync/protocol/messages.ts';
import type { DeviceId } from '../../src/sync/protocol/identifiers.ts';
import type { Network } from '../browser/network.ts';
import { random } from '../browser/random.ts';
import { inTurn } from '../tabs/web-locks.ts';
import { createHttpTransport } from './http-transport.ts';
import { loginAtHub, notAnswered, unreached } from './hub-queries.ts';
import { lastKept } from './outbox-file.ts';
import type { TokenVault } from './token-vault.ts';
import type { OfflineLogin } from './verifier.ts';

export interface CopyLoginOptions {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly replica: Replica;
  readonly offlineLogin: OfflineLogin;
  readonly network: Network;
  readonly vault: TokenVault;
}

/** The hub's response to a device with a token. */
interface Introduction {
  readonly welcome: Welcome;
  /** The device id used for the request. */
  readonly device: DeviceId;
}

const HELLO_MS = 10_000;
const vaultLock = (name: string): string => `burrow:vault:${name}`;

export class CopyLogin {
  /** The token for the hub. Undefined while no user is logged in at the hub. */
  token: string | undefined = undefined;
  private readonly options: CopyLoginOptions;
  private introduced: Introduction | undefined = undefined;

  constructor(options: CopyLoginOptions) {
    this.options = options;
  }

  /**
   * @param known the copy; undefined before the first contact
   * @returns the error response of the login, if it failed
   * @throws Refusal `connection_needed`, `unauthorized`; `forbidden` for any user but the owner of the copy
   */
  async logIn(
    url: string,
    { secret, login }: Pick<SyncCall, 'secret' | 'login'>,
    known: ReplicaState | undefined,
  ): Promise<SyncReply['failed']> {
    if (login) return this.logInBy(url, login, known);
    const kept = await this.options.vault.kept(this.options.name);
    const isKept = kept !== undefined && (secret === undefined || isSameText(secret, kept));
    if (secret === undefined && !known) throw new Refusal('login_needed', NOBODY);
    if (secret === undefined || (known && isKept)) this.token = kept;
    else await this.take(url, secret, known);
    return undefined;
  }

  /** Called after another tab has logged in. */
  async reload(): Promise<void> {
    this.token = await this.options.vault.kept(this.options.name);
  }

  /** The hub has revoked this token: ends offline login on this device, unless a user has logged in again in the meantime. */
  async forget(token: string | undefined): Promise<void> {
    const { name, locks, offlineLogin, vault } = this.options;
    if (this.token === token) this.token = undefined;
    await inTurn(locks, vaultLock(name), async () => {
      // A stored token that cannot be read is deleted too.
      const kept = await vault.kept(name).catch(() => undefined);
      if ((this.token ?? kept ?? token) !== token) return;
      await Promise.all([offlineLogin.forget(), vault.forget(name)]);
    });
  }

  /**
   * Turns the empty database into a copy, after the first login.
   * @param known the copy, if it was already adopted but has not received its schema
   */
  async adopt(url: string, known: ReplicaState | undefined): Promise<ReplicaState> {
    const { welcome, device } = this.introduced ?? (await this.introduce(url, this.token, known));
    this.introduced = undefined;
    return this.options.replica.adopt(url, welcome, device);
  }

  private async logInBy(
    url: string,
    login: NonNullable<SyncCall['login']>,
    known: ReplicaState | undefined,
  ): Promise<SyncReply['failed']> {
    const { name, offlineLogin, network, vault } = this.options;
    const user = `${url} ${login.user}`;
    const answer = await loginAtHub({ url, network }, login);
    if (!('why' in answer)) {
      if (answer.status >= 300) return answer;
      const { passwordSetAt } = await this.take(url, answer.secret, known);
      await offlineLogin.remember(user, login.password, passwordSetAt);
      return undefined;
    }
    const { why } = answer;
    if (!known) throw await unreached(needed(why, FIRST_TIME), { url, network });
    if (!(await offlineLogin.check(user, login.password, why))) return wrongPassword();
    this.token = await vault.kept(name);
    return undefined;
  }

  private async take(
    url: string,
    secret: string,
    known: ReplicaState | undefined,
  ): Promise<Welcome> {
    const introduced = await this.introduce(url, secret, known);
    const { welcome, device } = introduced;
    if (known && !isSameIdentity(known.actor, welcome.actor))
      throw new Refusal('forbidden', ANOTHER);
    // Before the token is stored, because a stored token opens the copy without the hub. If two users log in at the same time, even in
    // two tabs, one is refused here.
    if (!known) await this.options.replica.adopt(url, welcome, device);
    await this.keep(secret);
    this.token = secret;
    this.introduced = introduced;
    return welcome;
  }

  /**
   * Stores the token, under a lock so that it does not happen between the check and the deletion of `forget`, in any tab. If the database
   * was deleted in the meantime, the token is deleted again.
   */
  private async keep(secret: string): Promise<void> {
    const { name, locks, replica, vault } = this.options;
    await inTurn(locks, vaultLock(name), () => vault.keep(name, secret));
    await replica.state().catch(async (reason: unknown) => {
      if (!(reason instanceof Refusal && reason.code === 'locked')) await vault.forget(name);
      throw reason;
    });
  }

  private async introduce(
    url: string,
    secret: string | undefined,
    known: ReplicaState | undefined,
  ): Promise<Introduction> {
    const { name, network } = this.options;
    const transport = createHttpTransport({
      url,
      token: () => secret,
      fetch: network.fetch,
      deadlineMs: HELLO_MS,
    });
    const hello = async (device: DeviceId, lastSeq: number) => {
      const settled = device === known?.device ? known.settledSeq : 0;
      const { epoch } = known ?? {};
      const asked = performance.now();
      const message = { protocol: SYNC_PROTOCOL, device, epoch, lastSeq, settled };
      const exchange = await transport.hello(message).catch(async (cause: unknown) => {
        const isLate = performance.now() - asked >= HELLO_MS;
        const { message } =
          cause instanceof ForeignAnswer
            ? cause
            : notAnswered(cause, isLate ? HELLO_MS : undefined);
        const why = needed(message, known ? NOT_MET : FIRST_TIME, cause);
        throw await unreached(why, { url, network });
      });
      return { device, exchange };
    };
    const fresh = hexOfBytes(random(16));
    const kept = known ? undefined : await lastKept(name);
    const device = known?.device ?? kept?.device ?? fresh;
    let said = await hello(device, known?.lastSeq ?? kept?.item.seq ?? 0);
    // Only the identity is needed here. If the hub's history has changed, the syncer handles that.
    if (!said.exchange.ok && OF_DEVICE.has(said.exchange.refusal.code))
      said = await hello(fresh, 0);
    // A hub that has forgotten a device cannot tell whose device it was.
    const { owner } = kept ?? {};
    if (said.exchange.ok && owner && !isSameIdentity(owner, said.exchange.value.actor))
      said = await hello(fresh, 0);
    const { exchange } = said;
    if (exchange.ok) return { welcome: exchange.value, device: said.device };
    const { code, description } = exchange.refusal;
    const isToken = code === 'needs_login' || code === 'locked';
    throw new Refusal(isToken ? 'unauthorized' : 'connection_needed', description);
  }
}

const OF_DEVICE: ReadonlySet<string> = new Set([
  'device_taken',
  'device_expired',
  'client_regressed',
  'client_forked',
]);
const NOBODY =
  'No user has logged in on this device yet. Pass `secret` or `login: { user, password, key }`.';
const FIRST_TIME = 'The first sync on a device needs its answer: try again.';
const NOT_MET = 'Only the hub knows whose token this is: try again.';
const needed = (why: string, what: string, cause?: unknown): Refusal =>
  new Refusal('connection_needed', `${why} ${what}`, { cause });
const ANOTHER =
  'This database is the copy of another user. Open a database with another name or `identity`.';
/** The same response as the hub's. */
const wrongPassword = () => ({
  status: 400,
  body: errorBody([loginFailed([])]),
});
