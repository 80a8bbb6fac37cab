import {
  DatabaseClosed,
  UsageError,
  type Arg,
  type BurrowError,
  type Client,
  type Database,
  type SignOutOptions,
  type Sync,
  type SyncOptions,
} from '../../index.ts';
import { Cell } from './cell.ts';
import { requireKnown } from './require-known.ts';

/** Options of the provider that components get their database from. They are read once. */
export interface BurrowOptions {
  /**
   * The database, a promise of it, or a function that opens it. The function is called once, and never on a server. It is called again
   * after `logOut({ forget: true })`; a database that was passed already open cannot be used after that.
   */
  readonly database: Database | Promise<Database> | (() => Database | Promise<Database>);
  /** Makes the database a copy of a hub's database. A user who has logged in on this device before is logged in. */
  readonly sync?: Pick<SyncOptions, 'url' | 'sets'>;
  /**
   * Secret of a client key, by which users log in: a key of the hub or, without `sync`, of this database. Without `loginKey` and `sync`,
   * every user is logged in, as the admin.
   */
  readonly loginKey?: string;
}

/** A user with a password, or the secret of a token. */
export type SessionLogin =
  | { readonly user: Arg; readonly password: string }
  | { readonly secret: string };

export interface LogOutOptions extends SignOutOptions {
  /**
   * False: the database stays open in all tabs, and the session is `logged-out` as after a reload, so that another user can log in or sign
   * up. Only without a hub. The token of the user stays valid: `client.Logout(false)` revokes it.
   */
  readonly lock?: boolean;
}

/**
 * - `opening`: the database is being opened. On a server, this is always the state.
 * - `logged-out`: nobody has logged in.
 * - `logged-in`: `client` acts as the user.
 * - `locked`: the user has logged out, and the user's data is still on this device: the user can log in without a network.
 * - `failed`: the database cannot be used; `error` says why.
 */
export interface SessionState {
  readonly state: 'opening' | 'logged-out' | 'logged-in' | 'locked' | 'failed';
  /** Why nobody is logged in; undefined if nobody has tried to log in. */
  readonly error: BurrowError | undefined;
  readonly client: Client | undefined;
  readonly database: Database | undefined;
  readonly sync: Sync | undefined;
}

const OPTIONS = ['database', 'sync', 'loginKey'] satisfies (keyof BurrowOptions)[];
/** Props of components that are not options; developer tools add props with a hyphen. */
const PROPS = /^(?:children|ref|.*-.*)$/;

export const OPENING: SessionState = {
  state: 'opening',
  error: undefined,
  client: undefined,
  database: undefined,
  sync: undefined,
};

export const notOpen = (): UsageError => new UsageError('The database is not open yet.');

/** An undefined `secret` does not count: without a login, `sync()` would continue as the user who is logged in. */
const hasSecret = (login: SessionLogin): login is { readonly secret: string } =>
  (login as { readonly secret?: string }).secret !== undefined;

/** An open database and its user. */
export class Session extends Cell<SessionState> {
  private readonly options: BurrowOptions;
  private given: Database | Promise<Database> | undefined = undefined;
  private listening = new AbortController();
  /** Number of `logOut()` calls in progress: while there are any, closing the database is not a failure. */
  private leaving = 0;

  constructor(options: BurrowOptions) {
    super(OPENING);
    // With a misspelt `loginKey`, every user would be the admin.
    requireKnown(options, OPTIONS, PROPS);
    this.options = options;
  }

  /**
   * Opens the database at the first call, and listens to its events.
   * @returns a function that stops listening: a database may outlive many sessions
   */
  readonly start = (): (() => void) => {
    this.stop();
    void this.open((this.listening = new AbortController()));
    return this.stop;
  };

  readonly stop = (): void => this.listening.abort();

  /** @throws BurrowError when the login is refused, or when the first login on a device has no connection */
  readonly logIn = async (given: SessionLogin): Promise<void> => {
    const database = this.database();
    const { sync } = this.options;
    const login = Object(given) as SessionLogin;
    const isSecret = hasSecret(login);
    if (!isSecret && (login.user === undefined || typeof login.password !== 'string'))
      throw new UsageError('logIn() takes { user, password } or { secret }.');
    if (database.isLocked) {
      const { loginKey: key } = this.options;
      const asked = sync && !isSecret && key !== undefined ? { ...login, key } : login;
      const { secret } = await database.unlock(asked);
      if (sync) await this.goOn(database);
      else this.enter('logged-in', { client: database.client(secret ? { secret } : {}) });
    } else if (sync) {
      const how = isSecret ? login : { login: { ...login, key: this.loginKey() } };
      this.follow(await database.sync({ ...sync, ...how }));
    } else {
      const { secret } = isSecret
        ? login
        : await database
            .client({ secret: this.loginKey() })
            .Login(login.user, { password: login.password });
      const client = database.client({ secret });
      // This query fails if the secret is invalid or its token was revoked.
      if (isSecret) await client.query(true);
      this.enter('logged-in', { client });
    }
  };

  /**
   * Locks the user's data on this device, in all tabs; with `forget`, deletes it and opens a new database; with `lock: false`, only forgets
   * the user.
   * @throws UnsentWrites with `forget`, when writes have not reached the hub
   */
  readonly logOut = async ({ lock, ...options }: LogOutOptions = {}): Promise<void> => {
    const database = this.database();
    if (lock === false && !options.forget) {
      if (this.options.sync || !this.options.loginKey)
        throw new UsageError(
          'logOut({ lock: false }) needs the option `loginKey` of the provider, and no hub.',
        );
      return this.goOn(database);
    }
    this.leaving++;
    try {
      await database.signOut(options);
    } catch (error) {
      // The database was closed, but could not be deleted.
      const isLast = this.leaving === 1 && database === this.get().database;
      if (isLast && database.closed) this.fail(database.closed as BurrowError);
      throw error;
    } finally {
      this.leaving--;
    }
    // If two calls overlap, the other one may have started anew already.
    if (!options.forget || database !== this.get().database) return;
    this.given = undefined;
    this.set(OPENING);
    // The components of the session may have been unmounted since.
    if (!this.listening.signal.aborted) this.start();
  };

  private async open(listening: AbortController): Promise<void> {
    try {
      const { database: option } = this.options;
      const database = await (this.given ??= typeof option === 'function' ? option() : option);
      if (listening.signal.aborted) return;
      if (!(database instanceof EventTarget))
        throw new UsageError('The option `database` must give a database.');
      // A database that was passed open and was deleted by `forget` cannot be opened anew.
      if (database.closed) throw database.closed;
      const goOn = (): void => void this.goOn(database);
      database.addEventListener('locked', goOn, listening);
      database.addEventListener('unlocked', goOn, listening);
      database.addEventListener(
        'closed',
        ({ detail }) => {
          if (!this.leaving) this.fail(new DatabaseClosed(detail));
        },
        listening,
      );
      const before = this.get();
      const isNew = database !== before.database;
      if (isNew) this.set({ ...OPENING, database });
      if (isNew || database.isLocked !== (before.state === 'locked')) await this.goOn(database);
      else if (before.sync) this.follow(before.sync);
    } catch (error) {
      this.fail(error as BurrowError);
    }
  }

  /** Restores the state of the last visit, or the one that another tab has set. */
  private async goOn(database: Database): Promise<void> {
    const { sync } = this.options;
    if (database.isLocked) this.enter('locked');
    else if (sync)
      await database.sync(sync).then(
        (started) => this.follow(started),
        (error: BurrowError) => {
          if (database.isLocked) this.enter('locked');
          // Nobody has ever logged in on this device, which is not an error.
          else this.enter('logged-out', error.code === 'login_needed' ? {} : { error });
        },
      );
    // A `loginKey` that is present but undefined comes from a variable that is not set: nobody becomes the admin by that.
    else if ('loginKey' in this.options) this.enter('logged-out');
    else this.enter('logged-in', { client: database.client() });
  }

  private follow(sync: Sync): void {
    // The listener is always the same function, so it is registered once.
    sync.addEventListener('state', this.onState, this.listening);
    this.onState({ target: sync });
  }

  private readonly onState = ({ target }: Pick<Event, 'target'>): void => {
    const sync = target as Sync;
    // The hub has revoked the login.
    if (sync.state === 'locked') this.enter('locked', { sync });
    else this.enter('logged-in', { sync, client: sync.client });
  };

  /** @throws UsageError when the option is missing */
  private loginKey(): string {
    const { loginKey } = this.options;
    if (loginKey !== undefined) return loginKey;
    throw new UsageError(
      'logIn({ user, password }) needs the option `loginKey` of the provider: the secret of a client key.',
    );
  }

  private database(): Database {
    const { database, error } = this.get();
    if (database) return database;
    throw error ?? notOpen();
  }

  private enter(
    state: SessionState['state'],
    more: Partial<Pick<SessionState, 'client' | 'sync' | 'error'>> = {},
  ): void {
    const { database, ...before } = this.get();
    const isSame = before.state === state && before.client === more.client && !more.error;
    // A session that has failed stays so: a late answer must not change its state.
    if (!isSame && before.state !== 'failed') this.set({ ...OPENING, database, ...more, state });
  }

  private fail(error: BurrowError): void {
    this.set({ ...OPENING, state: 'failed', error });
  }
}
