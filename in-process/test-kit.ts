/** What tests hold of `burrowdb/testing` beside databases. Types only: they are what the package declares. */
import type { BurrowFetch, Client, DatabaseOptions } from '../src/index.ts';

/** A clock that tests set. Until they do, it goes with the real one. */
export interface TestClock {
  /** What databases with this clock take for the time. */
  now(): Date;
  /** It is this time now, and goes on from there. */
  set(time: Date | number | string): void;
  /** Goes forward by the sum of these; back, where they are negative. */
  advance(by: TimeSpan): void;
}

export interface TimeSpan {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
  readonly ms?: number;
}

/** The network of a device, with a switch. */
export interface TestNetwork {
  readonly isOnline: boolean;
  /** Requests under way fail, as those that follow do, and the device is told. */
  offline(): void;
  online(): void;
}

/** A hub in memory, at a URL that databases of `burrowdb/testing` reach. */
export interface TestHub {
  readonly url: string;
  readonly rootSecret: string;
  /** Acts at the hub with the secret of a key or a token; without options as its admin. */
  client(options?: { readonly secret?: string }): Client;
  /** Its HTTP API. */
  readonly fetch: BurrowFetch;
  close(): Promise<void>;
}

export interface TestDatabaseOptions extends Omit<
  DatabaseOptions,
  'worker' | 'hashCost' | 'store' | 'durability' | 'persist'
> {
  /** Of `createClock()`: what time it is. */
  readonly clock?: TestClock;
  /** Of `createNetwork()`: how it reaches hubs. */
  readonly network?: TestNetwork;
}

export interface TestHubOptions {
  /** Of `createClock()`. */
  readonly clock?: TestClock;
}
