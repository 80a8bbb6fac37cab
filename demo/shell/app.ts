import type { Client, Database } from '../../src/index.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Person } from '../roles/people.ts';
import type { CityImport } from '../import/city-import.ts';

/** What every view works with. */
export interface App {
  readonly db: Database;
  /** Acts with the root secret: schema only. */
  readonly root: Client;
  /** Acts with a server key: signs users up, reads history. */
  readonly server: Client;
  /** Acts with a client key, as anybody may who opens this page: reads what is public, logs in. */
  readonly visitor: Client;
  /** Who have roles. */
  readonly people: readonly Person[];
  readonly accounts: Accounts;
  readonly cities: CityImport;
  /** Shows the user a message; screen readers announce it. */
  say(message: string, kind?: 'good' | 'bad'): void;
}

export interface View {
  readonly title: string;
  readonly node: HTMLElement;
  /** Ends what the view has running, when another takes its place. */
  stop?(): void;
}
