/**
 * Copies everything readable from a damaged database into a new one. The damaged database is read whatever is wrong with its log, its
 * manifest or its stamps, and is not changed.
 */
import { Refusal } from '../../../src/errors.ts';
import type { SalvageResult } from '../../../src/host/salvage.ts';
import { COPIED } from '../../../src/packed/copy-rows.ts';
import type { BlockRange, Medium } from '../../../src/packed/medium.ts';
import { salvage, type SalvagedRows } from '../../../src/packed/salvage.ts';
import { HOT_SPACES, type Store } from '../../../src/store/port.ts';
import { within } from '../deadline.ts';
import { OPEN_DEADLINE_MS } from '../idb-connection.ts';
import { blockedOpening, refusalOf } from '../idb-failure.ts';
import { FIRST_PACKED_VERSION } from '../layouts.ts';
import { inOneTransaction } from '../one-transaction.ts';
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
  // If it opens only after the deadline, it closes as soon as another connection needs the database.
  const idb = await within(openDeadlineMs, openAsItIs(name), blockedOpening);
  try {
    // In a database that is being moved, the rows are authoritative; its log and blocks are only a copy.
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

/** Opens the database in its present version, even one that this code would not open otherwise. */
function openAsItIs(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name);
    let isThere = true;
    request.addEventListener('upgradeneeded', () => {
      // The database does not exist, and opening would create it. WebKit would list it all the same, so `indexedDB.databases()` is asked
      // first, where available.
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

/** Offers only reading: salvaging changes nothing. */
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
          : await read<Omit<StoredPart, 'v'> & { readonly v: unknown }>(
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

/** The lowest number of log parts and blocks. The stamp has a lower one. */
const FIRST = 1;

const bytesOf = (value: unknown): Uint8Array =>
  value instanceof Uint8Array ? value : new Uint8Array();

async function put(into: Store, { space, rows }: SalvagedRows): Promise<void> {
  // Without the row that records the progress of an interrupted move into this layout.
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
