/** The logins of this tab. Tokens are in `sessionStorage`: they survive a reload and are deleted when the tab is closed. */
import {
  q,
  QueryError,
  type Client,
  type Database,
  type Ref,
  type Token,
} from '../../src/index.ts';

export interface Account {
  readonly email: string;
  /** Id of the user document. */
  readonly userId: string;
  /** Name that the user gave to this login. */
  readonly loginName: string;
  readonly secret: string;
}

const KEY = 'burrow-cities:logins';

interface Kept {
  readonly accounts: readonly Account[];
  readonly current: number;
}

export class Accounts extends EventTarget {
  private readonly db: Database;
  private readonly visitor: Client;
  private kept: Kept = { accounts: [], current: 0 };

  constructor(db: Database, visitor: Client) {
    super();
    this.db = db;
    this.visitor = visitor;
    this.kept = read();
  }

  get all(): readonly Account[] {
    return this.kept.accounts;
  }

  /** The account that queries act as, or undefined if nobody is logged in. */
  get current(): Account | undefined {
    return this.kept.accounts[this.kept.current];
  }

  /** Acts as the current account, or as a visitor if nobody is logged in. */
  get client(): Client {
    const { current } = this;
    return current ? this.clientOf(current) : this.visitor;
  }

  clientOf({ secret }: Account): Client {
    return this.db.client({ secret });
  }

  /** Logs in with the client key, as any public app would: the index of users by e-mail address is public. */
  async logIn(email: string, password: string, loginName: string): Promise<void> {
    const user = q.Match(q.Index('users_by_email'), normal(email));
    const token: Token = await this.visitor.Login(user, { password, data: { name: loginName } });
    const account = {
      email: normal(email),
      userId: token.instance.id,
      loginName,
      secret: token.secret,
    };
    this.keep([...this.all, account], this.all.length);
  }

  /** Ends the current login, or with `everywhere` all logins of its user. */
  async logOut({ everywhere }: { readonly everywhere: boolean }): Promise<void> {
    const { current } = this;
    if (!current) return;
    await this.clientOf(current).Logout(everywhere);
    const isOver = (account: Account): boolean =>
      everywhere ? account.userId === current.userId : account === current;
    this.keep(
      this.all.filter((account) => !isOver(account)),
      0,
    );
  }

  switchTo(account: Account): void {
    this.keep(this.all, this.all.indexOf(account));
  }

  /** Removes logins that were ended elsewhere. */
  async dropEnded(): Promise<void> {
    const valid = await Promise.all(this.all.map((account) => this.isValid(account)));
    if (!valid.includes(false)) return;
    const { current } = this;
    const left = this.all.filter((_, at) => valid[at]);
    this.keep(left, Math.max(0, current ? left.indexOf(current) : 0));
  }

  private async isValid(account: Account): Promise<boolean> {
    try {
      await this.clientOf(account).CurrentIdentity();
      return true;
    } catch (error) {
      if (error instanceof QueryError && error.status === 401) return false;
      throw error;
    }
  }

  private keep(accounts: readonly Account[], current: number): void {
    this.kept = { accounts, current };
    sessionStorage.setItem(KEY, JSON.stringify(this.kept));
    this.dispatchEvent(new Event('change'));
  }
}

function read(): Kept {
  const text = sessionStorage.getItem(KEY);
  return text === null ? { accounts: [], current: 0 } : (JSON.parse(text) as Kept);
}

const normal = (email: string): string => email.trim().toLowerCase();

/** Creates a user. Needs the server key, which the operator of an app would hold: visitors may not create users. */
export async function signUp(server: Client, email: string, password: string): Promise<Ref> {
  const user = await server.Create(q.Collection('users'), {
    credentials: { password },
    data: { email: normal(email) },
  });
  return user.ref;
}
