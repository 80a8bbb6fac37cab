/** Test kit: calls of IndexedDB that fail as planned. */
import { metaKey } from '../../src/codec/key.ts';
import type { Store } from '../../src/store/port.ts';

export interface Call {
  /** From 1, counting all the calls named below. */
  readonly number: number;
  readonly name: string;
  readonly transaction: IDBTransaction | undefined;
  /** Name of the object store that was called. */
  readonly store: string | undefined;
}

export interface Fault {
  /** If it throws, the call is not made, and fails with that error. */
  readonly before?: (call: Call) => unknown;
  readonly after?: (call: Call, result: unknown) => unknown;
}

type Method = (this: unknown, ...values: unknown[]) => unknown;

const PLACES: readonly (readonly [object, readonly string[]])[] = [
  [IDBDatabase.prototype, ['transaction']],
  [
    IDBObjectStore.prototype,
    ['get', 'add', 'put', 'delete', 'getAll', 'getAllKeys', 'openKeyCursor'],
  ],
  [IDBIndex.prototype, ['getAll', 'openKeyCursor']],
];

/** Runs the body with the fault at all calls. Returns the number of calls. */
export async function withFault(fault: Fault, body: () => Promise<void>): Promise<number> {
  let number = 0;
  const putBacks = PLACES.flatMap(([prototype, names]) =>
    names.map((name) => {
      const former = Reflect.get(prototype, name) as Method;
      const patched: Method = function patched(...values) {
        number += 1;
        const store = this instanceof IDBObjectStore ? this.name : undefined;
        const call = { number, name, transaction: transactionOf(this), store };
        fault.before?.(call);
        const result = former.apply(this, values);
        fault.after?.(call, result);
        return result;
      };
      Reflect.set(prototype, name, patched);
      return () => Reflect.set(prototype, name, former);
    }),
  );
  try {
    await body();
  } finally {
    for (const putBack of putBacks) putBack();
  }
  return number;
}

function transactionOf(source: unknown): IDBTransaction | undefined {
  if (source instanceof IDBTransaction) return source;
  if (source instanceof IDBObjectStore) return source.transaction;
  return source instanceof IDBIndex ? source.objectStore.transaction : undefined;
}

/** Runs when the last row of a write to `meta`, or the record of a commit, is stored: then the browser begins to commit. */
export const atCommit = (run: (transaction: IDBTransaction) => void): Fault => ({
  after: ({ name, store, transaction }, result) => {
    const isLast = (name === 'put' && store === 'meta') || (name === 'add' && store === 'commits');
    if (!isLast || !transaction) return;
    if (result instanceof IDBRequest) result.addEventListener('success', () => run(transaction));
  },
});

/** As when the browser loses its storage process: the connection is dead, and no event was dispatched. */
export async function loseConnection(store: Store): Promise<void> {
  let idb: IDBDatabase | undefined;
  await withFault({ before: ({ transaction }) => (idb ??= transaction?.db) }, async () => {
    await store.read((tx) => tx.fetch([{ space: 'meta', key: metaKey('head') }], []));
  });
  if (!idb) throw new Error('the store has read nothing');
  idb.close();
}
