/** The logins of this tab. Tokens are kept in `sessionStorage`: they outlive a reload, and are forgotten with the tab. */
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
  /** What this login is called. */
  readonly loginName: string;
  /** Secret of the token. */
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

  /** Whom the user acts as; nobody, when undefined. */
  get current(): Account | undefined {
    return this.kept.accounts[this.kept.current];
  }

  /** Acts as the current account, or as a visitor. */
  get client(): Client {
    const { current } = this;
    return current ? this.clientOf(current) : this.visitor;
  }

  clientOf({ secret }: Account): Client {
    return this.db.client({ secret });
  }

  /** By the client key, as from any public app: the index of users by e-mail address is public. */
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

  /** Ends this login, or with `everywhere` all logins of its user. */
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

  /** Forgets the logins that were ended elsewhere. */
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

/** By the server key, as on the side of whoever runs an app: visitors may not make users. */
export async function signUp(server: Client, email: string, password: string): Promise<Ref> {
  const user = await server.Create(q.Collection('users'), {
    credentials: { password },
    data: { email: normal(email) },
  });
  return user.ref;
}
