/** A packed store beside the rows that are copied into it. It is not used before the flip, and is deleted if the rows are used again. */
import { emptyLogFrom } from '../../../src/packed/empty-log.ts';
import type { PackedLimits } from '../../../src/packed/limits.ts';
import { PackedStore } from '../../../src/packed/packed-store.ts';
import { pause } from '../../browser/pause.ts';
import { STAMP_KEY, type Birth } from '../birth-stamp.ts';
import { Watchdog } from '../watchdog.ts';
import { openDexie, type Connection } from '../idb-connection.ts';
import { thrownFor } from '../idb-failure.ts';
import { ReconnectingConnection, type ConnectionOptions } from '../reconnecting-connection.ts';
import { MOVING_LAYOUT, PACKED_FORMAT, STAGING_LAYOUT } from '../layouts.ts';
import { dropping, NativeTransaction } from '../native-transaction.ts';
import { IdbMedium } from '../packed/idb-medium.ts';
import { has } from './flip-layout.ts';

export interface StagingOptions extends ConnectionOptions {
  readonly limits?: Partial<PackedLimits>;
}

const STORES = ['commits', 'blocks'] as const;
const STRICT = { stores: STORES, mode: 'readwrite', durability: 'strict' } as const;

export class Staging {
  readonly packed: PackedStore;
  private readonly connection: ReconnectingConnection;
  private readonly medium: IdbMedium;
  private failure: { readonly reason: unknown } | undefined = undefined;

  constructor(name: string, options: StagingOptions) {
    const { limits } = options;
    this.connection = new ReconnectingConnection(name, STAGING_LAYOUT, PACKED_FORMAT, {
      ...options,
      // The marker of the rows is kept up to date instead.
      marker: null,
    });
    this.medium = new IdbMedium(this.connection);
    this.packed = new PackedStore({
      medium: this.medium,
      pause,
      // The tab that moves a database is the only one that has it open.
      leaseTerm: () => 1,
      onFailure: (reason) => (this.failure ??= { reason }),
      ...(limits && { limits }),
    });
  }

  /** @param birth the birth of the rows: a copy of another database is deleted */
  async open(birth: string): Promise<void> {
    await this.connection.open(async (connection) => {
      const born = { birth, format: PACKED_FORMAT };
      await this.stamp(connection, born);
      this.connection.use(connection, born);
      await this.beginLog(connection);
      await this.packed.open();
      return { birth, head: 0 };
    });
  }

  /** Resolves when everything written is in tables. @throws the error with which a flush or a merge has failed */
  async finish(): Promise<void> {
    await this.packed.flush();
    if (this.failure) throw this.failure.reason;
  }

  async close(): Promise<void> {
    // First, so that callers that wait for a flush fail with the connection.
    await this.connection.close();
    await this.packed.close();
  }

  private async stamp(connection: Connection, born: Birth): Promise<void> {
    const tx = await this.connection.beginNative(connection, STRICT);
    await Promise.all(STORES.map((store) => tx.raw(store, STAMP_KEY)))
      .then((stamps) => {
        if (stamps.every((each) => isOf(each, born))) return;
        for (const store of STORES) void tx.change((each) => each.clear(), store);
        for (const { name, key } of this.connection.stores)
          tx.putRaw(name, { [key]: STAMP_KEY, ...born });
      })
      .catch(dropping(tx));
    await tx.commit();
  }

  /** Starts the log above the numbers of a deleted copy, which must not be assigned again. */
  private async beginLog(connection: Connection): Promise<void> {
    const tx = await this.connection.beginNative(connection, STRICT);
    const parts = await tx.count('commits', IDBKeyRange.lowerBound(1)).catch(dropping(tx));
    if (parts > 0) return tx.drop();
    const added = tx.change((store) => store.add({ v: new Uint8Array(), c: '' }), 'commits');
    const number = Number(await added.catch(dropping(tx)));
    tx.drop();
    if (number > 1) await this.medium.append(emptyLogFrom(number), number, 'strict');
  }
}

type WaitingOptions = Pick<ConnectionOptions, 'openDeadlineMs' | 'watchdog'>;

/** Deletes the copy before the rows are used again: the rows may change, and then differ from it. @throws Refusal */
export const dropStaging = (name: string, options: WaitingOptions): Promise<void> =>
  clearStaging(name, options).catch((reason: unknown) => {
    throw thrownFor(reason);
  });

async function clearStaging(
  name: string,
  { openDeadlineMs, watchdog = new Watchdog() }: WaitingOptions,
): Promise<void> {
  const dexie = await openDexie(name, MOVING_LAYOUT, openDeadlineMs);
  const ignored = { onAnswer: () => undefined, onEnded: () => undefined };
  try {
    const tx = new NativeTransaction(dexie.backendDB(), { ...STRICT, watchdog, ...ignored });
    for (const store of STORES) void tx.change((each) => each.clear(), store);
    await tx.commit();
  } finally {
    dexie.close();
  }
}

const isOf = (stamp: unknown, { birth, format }: Birth): boolean =>
  has(stamp, 'birth', birth) && has(stamp, 'format', format);
