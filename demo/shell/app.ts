import type { Client, Database } from '../../src/index.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Person } from '../roles/people.ts';
import type { CityImport } from '../import/city-import.ts';

/** Shared by all views. */
export interface App {
  readonly db: Database;
  /** Acts with the root secret. Used for the schema only. */
  readonly root: Client;
  /** Acts with a server key. Used to sign users up and to read history. */
  readonly server: Client;
  /** Acts with a client key, like anyone who opens this page: can read public data and log in. */
  readonly visitor: Client;
  /** The people of the page "Roles". */
  readonly people: readonly Person[];
  readonly accounts: Accounts;
  readonly cities: CityImport;
  /** Shows a message to the user. Screen readers announce it. */
  say(message: string, kind?: 'good' | 'bad'): void;
}

export interface View {
  readonly title: string;
  readonly node: HTMLElement;
  /** Called when another view replaces this one: ends subscriptions and other work. */
  stop?(): void;
}
