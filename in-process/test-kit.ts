/** The types of `burrowdb/testing` apart from databases. This file contains only types: they are part of the package's declarations. */
import type { BurrowFetch, Client, DatabaseOptions } from '../src/index.ts';

/** A clock that tests can set. It always runs at the speed of the real clock, and shows the real time until it is set. */
export interface TestClock {
  /** The current time for databases and hubs that use this clock. */
  now(): Date;
  /**
   * Sets the time, from which the clock continues: a `Date`, ms since 1970, or a text that `Date` can parse.
   * @throws RangeError when it is not a valid time
   */
  set(time: Date | number | string): void;
  /** Moves the clock forward by the sum of these spans, or back if the sum is negative. */
  advance(by: TimeSpan): void;
}

export interface TimeSpan {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
  readonly ms?: number;
}

/** The network of a device, which tests switch on and off. */
export interface TestNetwork {
  readonly isOnline: boolean;
  /** Switches the network off: requests in progress and later ones fail, and the device is notified. */
  offline(): void;
  online(): void;
}

/** A hub in memory, with a URL that databases of `burrowdb/testing` can reach. */
export interface TestHub {
  readonly url: string;
  readonly rootSecret: string;
  /** A client of the hub with the secret of a key or a token. Default: with all rights, as the hub's admin. */
  client(options?: { readonly secret?: string }): Client;
  /** The HTTP API of the hub. */
  readonly fetch: BurrowFetch;
  close(): Promise<void>;
}

export interface TestDatabaseOptions extends Omit<
  DatabaseOptions,
  'worker' | 'hashCost' | 'store' | 'durability' | 'persist'
> {
  /** A clock of `createClock()`. Default: the real time. */
  readonly clock?: TestClock;
  /** A network of `createNetwork()`. Default: a network that is always online. */
  readonly network?: TestNetwork;
}

export interface TestHubOptions {
  /** A clock of `createClock()`. Default: the real time. */
  readonly clock?: TestClock;
}
