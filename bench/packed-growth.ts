/** Grows a packed store in memory. Run by packed-growth.mjs. */
import { documentKey, entryKey, termsPrefix, type Key } from '../src/codec/key.ts';
import { prefixRange } from '../src/codec/ranges.ts';
import { Ref } from '../src/values/value.ts';
import { claimOf, tablesOf } from '../src/packed/manifest.ts';
import type { Medium } from '../src/packed/medium.ts';
import { PackedStore } from '../src/packed/packed-store.ts';
import { CountingMedium } from '../src/packed/testing/counting-medium.ts';
import { createMemoryMedium, MediumData } from '../src/packed/testing/memory-medium.ts';
import type { Row } from '../src/store/port.ts';
import { Slices } from './packed-slices.ts';

const DOCUMENTS = Number(process.argv[2]);
const PER_COMMIT = 1000;
const UPDATED = DOCUMENTS / 10;
const EMAILS = 1;
const CITIES = 2;
const BY_AGE = 3;

const slices = new Slices();

/** Responds in another turn of the event loop, as IndexedDB does. */
class TurningMedium implements Medium {
  private readonly medium: Medium;
  constructor(medium: Medium) {
    this.medium = medium;
  }
  read(...asked: Parameters<Medium['read']>): ReturnType<Medium['read']> {
    return this.after('read', () => this.medium.read(...asked));
  }
  append(...asked: Parameters<Medium['append']>): Promise<boolean> {
    return this.after('append', () => this.medium.append(...asked));
  }
  appendAfter(...asked: Parameters<Medium['appendAfter']>): Promise<number | undefined> {
    return this.after('append', () => this.medium.appendAfter(...asked));
  }
  putBlocks(...asked: Parameters<Medium['putBlocks']>): Promise<void> {
    return this.after('put', () => this.medium.putBlocks(...asked));
  }
  trim(...asked: Parameters<Medium['trim']>): Promise<void> {
    return this.after('trim', () => this.medium.trim(...asked));
  }
  close(): Promise<void> {
    return this.medium.close();
  }
  /** The time that the medium itself takes is not counted as the store's. */
  private async after<T>(kind: string, body: () => Promise<T>): Promise<T> {
    await slices.turn(kind);
    const result = await slices.outside(body);
    await slices.turn('medium');
    return result;
  }
}

/** A pseudo-random number; the sequence is the same in each run. */
let state = 1;
function random(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const entryOf = (index: number, terms: readonly string[], values: readonly number[], ref: Ref) =>
  entryKey({ database: 0, index, terms, values, reverse: [], ref });

/** A row of about 330 bytes with three index entries, which are spread over their indexes. */
function rowOf(i: number, version: number): Row {
  const ref = new Ref(0, 1024, BigInt(i));
  const city = `city ${(i * 31 + version) % 100}`;
  const name = `person${(i * 7919) % DOCUMENTS}@example.org`;
  return {
    key: documentKey(0, 1024, BigInt(i)),
    entries: [
      entryOf(EMAILS, [name], [], ref),
      entryOf(CITIES, [city], [], ref),
      entryOf(BY_AGE, [], [(i * 17 + version) % 90], ref),
    ],
    value: `{"name":"${name}","city":"${city}","text":"${'lorem ipsum '.repeat(21)}"}`,
  };
}

const data = new MediumData();
const medium = new CountingMedium(createMemoryMedium(data));

const open = async (): Promise<PackedStore> => {
  const opened = new PackedStore({
    medium: new TurningMedium(medium),
    leaseTerm: () => 1,
    pause: () => slices.turn('pause'),
    onFailure: (reason) => {
      throw reason;
    },
  });
  await opened.open();
  return opened;
};

const commits = { longest: 0 };
const reads = { longest: 0, most: 0 };
async function timed<T>(kept: { longest: number }, body: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await body();
  kept.longest = Math.max(kept.longest, performance.now() - begun);
  return result;
}

const put = (store: PackedStore, rows: readonly Row[]): Promise<void> =>
  store.write(
    async (tx) => tx.apply({ puts: rows.map((row) => ({ space: 'documents', row })), deletes: [] }),
    { durability: 'relaxed' },
  );

/** Reads a document, a page of 64 scattered documents, and an address that does not exist. */
async function readSome(store: PackedStore, count: number): Promise<void> {
  const { key } = rowOf(random(count), 0);
  const absent = termsPrefix(0, EMAILS, [`nobody${random(count)}@example.org`]);
  const page = termsPrefix(0, CITIES, [`city ${random(100)}`]);
  await timed(reads, () =>
    store.read(async (tx) => {
      await tx.fetch([{ space: 'documents', key }], [rangeOf(absent, 1), rangeOf(page, 64)]);
    }),
  );
}

const rangeOf = (prefix: Key, limit: number) =>
  ({
    space: 'documents',
    by: 'entry',
    ...prefixRange(prefix),
    reverse: false,
    limit,
    rows: true,
  }) as const;

const MB = 1024 * 1024;
const shown = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;
const ms = (time: number): string => `${time.toFixed(0)} ms`;
const heapBytes = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
const liveBytes = ({ manifest }: PackedStore): number =>
  tablesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0);

function report(what: string, store: PackedStore, perSecond: number): void {
  const { blocks, indexes, memtables } = store.memory;
  const tables = tablesOf(store.manifest).length;
  const live = liveBytes(store);
  process.stdout.write(
    `${what}: ${Math.round(perSecond)}/s, longest commit ${ms(commits.longest)}, read ${ms(reads.longest)}, ` +
      `${tables} tables, ${(putBytes / live).toFixed(2)} bytes put per live byte, ` +
      `memory: blocks ${shown(blocks)}, indexes ${shown(indexes)}, memtables ${shown(memtables)}; ` +
      `longest slices, ms, by what ended them: ${slices.toString()}\n`,
  );
  commits.longest = 0;
  reads.longest = 0;
  slices.reset();
}

let putBytes = 0;
async function phase(
  what: string,
  store: PackedStore,
  count: number,
  rowsAt: (at: number) => readonly Row[],
): Promise<void> {
  const reportEvery = Math.max(PER_COMMIT, Math.ceil(count / 5));
  let begun = performance.now();
  for (let at = 0; at < count; at += PER_COMMIT) {
    const rows = rowsAt(at);
    await slices.turn('commit');
    const reading = readSome(store, Math.max(1, at));
    await timed(commits, () => put(store, rows));
    await reading;
    putBytes += medium.take().putBytes;
    if ((at + PER_COMMIT) % reportEvery !== 0) continue;
    const seconds = (performance.now() - begun) / 1000;
    report(`${what} ${at + PER_COMMIT}`, store, reportEvery / seconds);
    begun = performance.now();
  }
  await store.whenIdle();
}

const batch = (from: (i: number) => number, version: number): Row[] =>
  Array.from({ length: PER_COMMIT }, (_, i) => rowOf(from(i), version));

let store: PackedStore | undefined = await open();
await phase('fill', store, DOCUMENTS, (at) => batch((i) => at + i, 0));
await phase('update', store, UPDATED, () => batch(() => random(DOCUMENTS), 1 + random(50)));
await store.flush();
putBytes += medium.take().putBytes;
report('end', store, 0);
await store.warm({ idle: () => slices.turn('idle') });
const { blocks, indexes, memtables } = store.memory;
const used = heapBytes();
await store.close();
store = undefined;
const objects = used - heapBytes();
process.stdout.write(
  `memory beyond an empty worker: ${shown(objects + blocks + indexes)} (objects ${shown(objects)}, ` +
    `blocks ${shown(blocks)}, indexes ${shown(indexes)}, memtables in them ${shown(memtables)})\n`,
);

// A block that a flush wrote before it was interrupted. The sweep must remove it.
await medium.putBlocks([{ id: 2 ** 20 + 5, bytes: new Uint8Array(10) }]);
const opening = performance.now();
const again = await open();
process.stdout.write(`open: ${ms(performance.now() - opening)}\n`);
await again.sweep();
const claims = new Set([...tablesOf(again.manifest), ...again.manifest.retired].map(claimOf));
const orphans = [...data.blocks.keys()].filter((first) => !claims.has(claimOf({ first })));
process.stdout.write(`orphans after a sweep: ${orphans.length}\n`);
await again.close();
