/**
 * Brings what can be read of a damaged database into a new one. The damaged one is read as it is, whatever is wrong with its log, its
 * manifest or its stamps, and nothing of it is changed.
 */
import { Refusal } from '../../../src/errors.ts';
import type { SalvageResult } from '../../../src/host/salvage.ts';
import { COPIED } from '../../../src/packed/copy-rows.ts';
import type { BlockRange, Medium } from '../../../src/packed/medium.ts';
import { salvage, type SalvagedRows } from '../../../src/packed/salvage.ts';
import { HOT_SPACES, type Store } from '../../../src/store/port.ts';
import { within } from '../deadline.ts';
import { blocked } from '../idb-connection.ts';
import { refusalOf } from '../idb-failure.ts';
import { FIRST_PACKED_VERSION } from '../layouts.ts';
import { inOneTransaction } from '../one-transaction.ts';
import { OPEN_DEADLINE_MS } from '../reconnecting-connection.ts';
import { LostSchema } from './lost-schema.ts';
import { logPartOf, type StoredPart } from './stored-part.ts';

/** @throws Refusal `not found`, `storage_blocked`, `storage_unavailable` */
export async function salvageDatabase(
  name: string,
  into: Store,
  openDeadlineMs = OPEN_DEADLINE_MS,
): Promise<SalvageResult> {
  const { databases } = indexedDB as Partial<IDBFactory>;
  const known = await databases?.call(indexedDB);
  if (known?.every((each) => each.name !== name)) throw notThere(name);
  // One that opens late gives way to whoever wants it.
  const idb = await within(openDeadlineMs, openAsItIs(name), blocked);
  try {
    // Rows that are on the move have log and blocks beside them, which do not count.
    if (idb.version < FIRST_PACKED_VERSION) throw isOfRows(name);
    const damaged: string[] = [];
    const lost = new LostSchema();
    let rows = 0;
    for await (const found of salvage(mediumOf(idb), (what) => damaged.push(what))) {
      await put(into, found);
      lost.add(found);
      rows += found.rows.length;
    }
    if (damaged.length === 0) return { rows, damaged, renamed: [] };
    const renamed = lost.withNewNames();
    await put(into, { space: 'documents', rows: renamed.rows });
    return { rows, damaged, renamed: renamed.names };
  } finally {
    idb.close();
  }
}

/** In the version that it has: it need not be one that this code would open. */
function openAsItIs(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name);
    let isThere = true;
    request.addEventListener('upgradeneeded', () => {
      // Opening it would make it. WebKit lists it all the same, so it is looked for first where that can be asked.
      isThere = false;
      request.transaction?.abort();
    });
    request.addEventListener('success', () => {
      const idb = request.result;
      idb.addEventListener('versionchange', () => idb.close());
      resolve(idb);
    });
    request.addEventListener('error', () =>
      reject(isThere ? refusalOf(request.error) : notThere(name)),
    );
  });
}

/** For reading: a walk looks, and does nothing else. */
function mediumOf(idb: IDBDatabase): Pick<Medium, 'read'> {
  const read = <T>(store: string, range: IDBKeyRange, limit?: number): Promise<T[]> =>
    inOneTransaction<T[]>(idb, store, 'readonly', (all) => all.getAll(range, limit)).catch(
      (reason: unknown) => {
        throw refusalOf(reason);
      },
    );
  const blocks = async ({ first, last, limit }: BlockRange) => {
    const range = IDBKeyRange.bound(Math.max(first, FIRST), last);
    const found = await read<{ i: number; v: unknown }>('blocks', range, limit);
    return found.map(({ i, v }) => ({ id: i, bytes: bytesOf(v) }));
  };
  return {
    async read(after, ranges) {
      const parts =
        after === undefined
          ? []
          : await read<Pick<StoredPart, 'n' | 'e'> & { readonly v: unknown }>(
              'commits',
              IDBKeyRange.lowerBound(Math.max(after + 1, FIRST)),
            );
      const log = parts.map((part) => logPartOf({ ...part, v: bytesOf(part.v) }));
      const found = [];
      for (const range of ranges) found.push(await blocks(range));
      return { log, blocks: found };
    },
  };
}

/** Below it lies the stamp. */
const FIRST = 1;

const bytesOf = (value: unknown): Uint8Array =>
  value instanceof Uint8Array ? value : new Uint8Array();

async function put(into: Store, { space, rows }: SalvagedRows): Promise<void> {
  // Not the note of a move into this layout that was cut off.
  const puts = rows
    .filter(({ key }) => space !== COPIED.space || key !== COPIED.key)
    .map((row) => ({ space, row }));
  await into.write(async (tx) => tx.apply({ puts, deletes: [] }), {
    spaces: HOT_SPACES,
    durability: 'strict',
  });
}

const notThere = (name: string): Refusal =>
  new Refusal('not found', `No database is stored on this device as ${JSON.stringify(name)}.`);

const isOfRows = (name: string): Refusal =>
  new Refusal(
    'storage_unavailable',
    `${JSON.stringify(name)} is stored as rows, which need no salvage: open it.`,
  );
